package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// airgap runs Bazel where the Bazel Central Registry cannot be reached.
const airgap = "testing/airgap/bazel"

// image builds the image, loads it into the container engine as
// external-context:latest, and prints what it is known by.
func image(ctx context.Context, b *bench, _ []string) error {
	bazel, bin, err := chooseBazel()
	if err != nil {
		return err
	}
	docker, err := exec.LookPath("docker")
	if err != nil {
		return errors.New("docker is missing: install a container engine")
	}
	targets := []string{"build", "//image", "//image:image.digest", "//image:linux_amd64.digest", "//image:linux_arm64.digest", "//image:load", "--output_groups=+tarball"}
	if err := b.show(ctx, bazel, targets...); err != nil {
		return errFailed
	}
	built, err := os.Readlink("bazel-bin")
	if err != nil {
		return err
	}
	built = filepath.Join(bin, built, "image")
	if err := b.show(ctx, docker, "load", "--quiet", "--input", filepath.Join(built, "load", "tarball.tar")); err != nil {
		return errFailed
	}
	for _, name := range []string{"image", "linux_amd64", "linux_arm64"} {
		digest, err := os.ReadFile(filepath.Join(built, name+".digest"))
		if err != nil {
			return err
		}
		fmt.Fprintf(b.stdout, "%-12s %s\n", name, strings.TrimSpace(string(digest)))
	}
	id, err := b.output(ctx, docker, "image", "inspect", "--format", "{{.Id}}", "external-context:latest")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.stdout, "%-12s %s\n", "loaded as", id)
	return nil
}

// chooseBazel returns the Bazel to use and the directory below which its output is
// to be found: the person's own, or on a build machine without one the airgap's.
func chooseBazel() (bazel, bin string, err error) {
	for _, name := range []string{"bazelisk", "bazel"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, "", nil
		}
	}
	if _, err := exec.LookPath("debootstrap"); err == nil && os.Geteuid() == 0 {
		return airgap, filepath.Join(".build", "airgap", "root"), nil
	}
	return "", "", errors.New("bazel is missing: install Bazelisk, https://github.com/bazelbuild/bazelisk")
}
