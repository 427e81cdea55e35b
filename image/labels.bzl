"""The image's OCI labels, as a file that oci_image takes."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

def _image_labels_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")
    labels = dict(ctx.attr.labels)
    labels["org.opencontainers.image.revision"] = ctx.attr.revision[BuildSettingInfo].value
    ctx.actions.write(out, "".join(["%s=%s\n" % (name, labels[name]) for name in sorted(labels)]))
    return [DefaultInfo(files = depset([out]))]

image_labels = rule(
    doc = "Writes labels, and the revision that was given on the command line, one NAME=VALUE a line.",
    implementation = _image_labels_impl,
    attrs = {
        "labels": attr.string_dict(),
        "revision": attr.label(mandatory = True, providers = [BuildSettingInfo]),
    },
)
