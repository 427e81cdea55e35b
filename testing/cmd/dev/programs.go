package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// demo builds the demo and becomes its parent.
func demo(ctx context.Context, b *bench, args []string) error {
	return b.program(ctx, "testing/cmd/demo", args)
}

// measure builds and runs the benches.
func measure(ctx context.Context, b *bench, _ []string) error {
	return b.program(ctx, "testing/cmd/bench", nil)
}

// program builds a program of the module into .build and runs it. It is built and
// not `go run`, so that a signal reaches it and only its own words are shown.
func (b *bench) program(ctx context.Context, pkg string, args []string) error {
	path := filepath.Join(".build", filepath.Base(pkg))
	if _, err := os.Stat(path); err != nil {
		fmt.Fprintf(b.stderr, "dev: building %s for the first time\n", pkg)
	}
	if err := b.show(ctx, "go", "build", "-o", path, "./"+pkg); err != nil {
		return errFailed
	}
	return asShown(b.show(ctx, path, args...))
}

// asShown turns a program's failure, which it has explained itself, into ours.
func asShown(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return errFailed
	}
	return err
}

// setup installs the npm packages of testing/node as the lock file has them.
//
// `npm ci` would say so itself, but it refuses a lock file in which packages for
// other platforms are missing, and a registry need not have those.
func setup(ctx context.Context, b *bench, _ []string) error {
	const directory = "testing/node"
	lock := filepath.Join(directory, "package-lock.json")
	before, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is missing: install Node with npm")
	}
	if err := b.show(ctx, npm, "install", "--no-save", "--prefix", directory, "--loglevel", "error"); err != nil {
		return errFailed
	}
	after, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("npm changed %s, so what is installed is not what is pinned", lock)
	}
	fmt.Fprintf(b.stdout, "installed in %s/node_modules\n", directory)
	return nil
}
