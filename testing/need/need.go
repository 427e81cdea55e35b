// Package need finds what a test needs beside the product and decides what
// happens when it is not there.
//
// It owns one rule: a missing tool skips the test on a person's machine, with a
// line that says what to install, and fails it when CI is "true". It knows where
// the repository keeps its test tools; it knows nothing about what is tested.
package need

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// SkipPrefix starts every skip message of this package, so that the test
// summary can list what was not run and why.
const SkipPrefix = "not run: "

// missing skips tb, or fails it under CI, with what is missing and its mend.
func missing(tb testing.TB, what, mend string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("CI must run this test, but %s is missing: %s", what, mend)
	}
	tb.Skipf("%sneeds %s: %s", SkipPrefix, what, mend)
}

// Root returns the repository's root directory: the one that holds go.mod.
func Root(tb testing.TB) string {
	tb.Helper()
	root, err := FindRoot()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// FindRoot walks up from the working directory to the one that holds go.mod.
func FindRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod in the working directory or above it")
		}
		dir = parent
	}
}

// NodeModules returns the absolute path of the installed npm packages
// (testing/node/node_modules).
func NodeModules(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(Root(tb), "testing", "node", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, ".package-lock.json")); err != nil {
		missing(tb, "the npm test packages", "run ./dev setup")
	}
	return dir
}

// Node returns the absolute path of the pinned Node binary from npm, for tests
// that run the packages of [NodeModules].
func Node(tb testing.TB) string {
	tb.Helper()
	path, err := FindNode(Root(tb))
	if err != nil {
		missing(tb, "the pinned Node", "run ./dev setup on linux/amd64 or linux/arm64")
	}
	return path
}

// AnyNode returns the pinned Node if it is installed, else the machine's own, for
// tests that need a JavaScript engine and no npm package.
func AnyNode(tb testing.TB) string {
	tb.Helper()
	// A Bazel sandbox has no repository around the test.
	if root, err := FindRoot(); err == nil {
		if pinned, err := FindNode(root); err == nil {
			return pinned
		}
	}
	return Tool(tb, "node", "install Node, or run ./dev setup")
}

// FindNode returns the pinned Node below the repository's root.
func FindNode(root string) (string, error) {
	path := filepath.Join(root, "testing", "node", "node_modules", nodePackage(), "bin", "node")
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("the pinned Node is missing: run ./dev setup on linux/amd64 or linux/arm64")
	}
	return path, nil
}

// nodePackage is the npm package that carries Node for this machine.
func nodePackage() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return "node-" + runtime.GOOS + "-" + arch
}

// Tool returns the absolute path of a program on PATH.
func Tool(tb testing.TB, name, mend string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, name, mend)
	}
	return path
}

// Image returns the id of the image that Bazel built and that was loaded into the
// container engine as external-context:latest, and the path of the engine's client.
func Image(tb testing.TB) (id, docker string) {
	tb.Helper()
	docker = Tool(tb, "docker", "install a container engine, then run ./dev image")
	if err := exec.Command(docker, "version").Run(); err != nil {
		missing(tb, "a running container engine", "start it, then run ./dev image")
	}
	out, err := exec.Command(docker, "image", "inspect", "--format", "{{.Id}}", "external-context:latest").Output()
	if err != nil {
		missing(tb, "the image", "run ./dev image")
	}
	return strings.TrimSpace(string(out)), docker
}

// Airgap returns the repository's root on a machine where testing/airgap has been
// provisioned, which takes root.
func Airgap(tb testing.TB) string {
	tb.Helper()
	root := Root(tb)
	if _, err := os.Stat(filepath.Join(root, ".build", "airgap", "sdk.done")); err != nil || os.Geteuid() != 0 {
		missing(tb, "the airgapped Bazel", "as root, on Debian, without a Bazel of your own: run ./dev image")
	}
	return root
}

// Build compiles the module's programs for one test process. Its zero value is
// ready for use; keep one in the test binary and Close it in TestMain.
type Build struct {
	mu    sync.Mutex
	dir   string
	paths map[string]string
}

// Program returns the path of the program built from the module's package pkg
// ("src/cmd/extctx"), statically linked and trimmed as the image's is. It is
// built at most once for each Build.
func (b *Build) Program(tb testing.TB, pkg string) string {
	tb.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, ok := b.paths[pkg]; ok {
		return path
	}
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "external-context-build-")
		if err != nil {
			tb.Fatal(err)
		}
		// A test may run the program as another user.
		if err := os.Chmod(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		b.dir = dir
		b.paths = map[string]string{}
	}
	path := filepath.Join(b.dir, filepath.Base(pkg))
	if err := GoBuild(Root(tb), pkg, path); err != nil {
		tb.Fatal(err)
	}
	b.paths[pkg] = path
	return path
}

// Close removes what was built.
func (b *Build) Close() {
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// GoBuild builds pkg of the module at root to the file out, without cgo and
// with the flags of a release.
func GoBuild(root, pkg, out string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", out, "./"+pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, output)
	}
	return nil
}
