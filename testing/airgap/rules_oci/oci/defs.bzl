"""The names of rules_oci's oci/defs.bzl that image/BUILD.bazel uses."""

load("//oci/private:rules.bzl", "oci_digest", "oci_image_index_rule", "oci_image_rule", "oci_load_rule")

def oci_image(name, **kwargs):
    """An image, and a target NAME.digest with its digest."""
    oci_image_rule(name = name, **kwargs)
    oci_digest(name = name + ".digest", image = name)

def oci_image_index(name, **kwargs):
    """An index of images, and a target NAME.digest with its digest."""
    oci_image_index_rule(name = name, **kwargs)
    oci_digest(name = name + ".digest", image = name)

oci_load = oci_load_rule
