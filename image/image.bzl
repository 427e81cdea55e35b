"""One macro knows what the image of a platform is made of."""

load("@rules_go//go:def.bzl", "go_cross_binary")
load("@rules_oci//oci:defs.bzl", "oci_image")
load("@rules_pkg//pkg:tar.bzl", "pkg_tar")

# The user that distroless images call nonroot.
_USER = "65532:65532"

def extctx_image(name, architecture, labels):
    """The image for linux on an architecture: /extctx and nothing else.

    Args:
      name: the image's name; its layer is NAME_layer, its program NAME_extctx.
      architecture: as Go and OCI call it.
      labels: the image_labels target.
    """
    go_cross_binary(
        name = name + "_extctx",
        platform = "@rules_go//go/toolchain:linux_" + architecture,
        target = "//src/cmd/extctx",
    )
    pkg_tar(
        name = name + "_layer",
        srcs = [":" + name + "_extctx"],
        mode = "0555",
        owner = "0.0",
        portable_mtime = True,
        remap_paths = {"/" + name + "_extctx": "/extctx"},
        stamp = 0,
    )
    oci_image(
        name = name,
        architecture = architecture,
        entrypoint = ["/extctx"],
        labels = labels,
        os = "linux",
        tars = [":" + name + "_layer"],
        user = _USER,
        visibility = ["//visibility:public"],
    )
