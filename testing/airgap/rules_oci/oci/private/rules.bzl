"""Rules that run //testing/airgap/ociwriter."""

_WRITER = {
    "_writer": attr.label(
        cfg = "exec",
        default = Label("@@//testing/airgap/ociwriter"),
        executable = True,
    ),
}

def _write(ctx, command, out, arguments, inputs):
    args = ctx.actions.args()
    args.add(command)
    args.add(out.path)
    args.add_all(arguments, expand_directories = False)
    ctx.actions.run(
        arguments = [args],
        executable = ctx.executable._writer,
        # A sandbox shows a layout's files as links, which go-containerregistry refuses to follow.
        execution_requirements = {"no-sandbox": "1"},
        inputs = inputs,
        mnemonic = "OCIWriter",
        outputs = [out],
    )

def _image_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    arguments = [ctx.attr.architecture, ctx.attr.os, ctx.attr.user, ctx.attr.entrypoint[0], ctx.file.labels]
    _write(ctx, "image", out, arguments + ctx.files.tars, ctx.files.tars + [ctx.file.labels])
    return [DefaultInfo(files = depset([out]))]

oci_image_rule = rule(
    implementation = _image_impl,
    attrs = {
        "architecture": attr.string(mandatory = True),
        "entrypoint": attr.string_list(mandatory = True),
        "labels": attr.label(allow_single_file = True, mandatory = True),
        "os": attr.string(mandatory = True),
        "tars": attr.label_list(allow_files = True, mandatory = True),
        "user": attr.string(mandatory = True),
    } | _WRITER,
)

def _index_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    _write(ctx, "index", out, ctx.files.images, ctx.files.images)
    return [DefaultInfo(files = depset([out]))]

oci_image_index_rule = rule(
    implementation = _index_impl,
    attrs = {"images": attr.label_list(mandatory = True)} | _WRITER,
)

def _digest_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    _write(ctx, "digest", out, [ctx.file.image], [ctx.file.image])
    return [DefaultInfo(files = depset([out]))]

oci_digest = rule(
    implementation = _digest_impl,
    attrs = {"image": attr.label(allow_single_file = True, mandatory = True)} | _WRITER,
)

def _load_impl(ctx):
    tarball = ctx.actions.declare_file(ctx.label.name + "/tarball.tar")
    _write(ctx, "tarball", tarball, [ctx.file.image, ctx.attr.repo_tags[0]], [ctx.file.image])
    loader = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(loader, "#!/bin/sh\nexec docker load --input %s\n" % tarball.short_path, is_executable = True)
    return [
        DefaultInfo(executable = loader, runfiles = ctx.runfiles([tarball])),
        OutputGroupInfo(tarball = depset([tarball])),
    ]

oci_load_rule = rule(
    implementation = _load_impl,
    attrs = {
        "image": attr.label(allow_single_file = True, mandatory = True),
        "repo_tags": attr.string_list(mandatory = True),
    } | _WRITER,
    executable = True,
)
