package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// toolsModule pins the developer tools.
const toolsModule = "-modfile=testing/tools/go.mod"

// errMissing says that a step could not be run for want of a tool.
type errMissing struct{ what, mend string }

func (e errMissing) Error() string { return "needs " + e.what + ": " + e.mend }

// step is one check.
type step struct {
	name string
	run  func(context.Context, *bench) error
}

// checks are the steps before the tests, quick ones first.
func checks() []step {
	return []step{
		{"gofmt", gofmt},
		{"go vet", goCommand("vet", "./...")},
		{"go mod tidy", goCommand("mod", "tidy", "-diff")},
		{"go mod verify", goCommand("mod", "verify")},
		{"staticcheck", tool("staticcheck", "./...")},
		{"gazelle", tool("gazelle", "update", "-mode", "diff")},
		{"buildifier", tool("buildifier", "-mode", "check", "-lint", "warn", "-r", "BUILD.bazel", "MODULE.bazel", "image", "policy", "src", "testing")},
		{"govulncheck", govulncheck},
	}
}

// report is what became of a number of steps.
type report struct {
	well   int
	failed []string
	notRun []string
}

// carryOut runs the steps, all of them, and says how each went.
func (b *bench) carryOut(ctx context.Context, steps []step) report {
	var r report
	for _, s := range steps {
		fmt.Fprintf(b.stdout, "== %s\n", s.name)
		begin := time.Now()
		err := s.run(ctx, b)
		var missing errMissing
		switch {
		case ctx.Err() != nil:
			r.failed = append(r.failed, s.name+" (interrupted)")
			return r
		case errors.As(err, &missing) && !b.ci:
			r.notRun = append(r.notRun, s.name+": "+missing.Error())
		case err != nil:
			fmt.Fprintf(b.stdout, "   failed: %v\n", err)
			r.failed = append(r.failed, s.name)
		default:
			r.well++
			fmt.Fprintf(b.stdout, "   ok (%.1f s)\n", time.Since(begin).Seconds())
		}
	}
	return r
}

// show runs a program with its output shown.
func (b *bench) show(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, b.stdout, b.stderr
	return cmd.Run()
}

// output runs a program and returns what it writes to stdout.
func (b *bench) output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = b.stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// tests returns a command that runs tests. An interrupt reaches all that it
// started, which the go command does not see to: it has a process group of its own.
func tests(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// wait waits for a command of tests and, if it was interrupted, ends what did not
// heed the interrupt.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	err := cmd.Wait()
	if ctx.Err() != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nothing left
	}
	return err
}

func goCommand(args ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error { return b.show(ctx, "go", args...) }
}

// gofmt lists the Go files that gofmt would change.
func gofmt(ctx context.Context, b *bench) error {
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name != "." && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	unformatted, err := b.output(ctx, "gofmt", append([]string{"-l"}, files...)...)
	if err == nil && unformatted != "" {
		err = fmt.Errorf("gofmt -w would change:\n%s", unformatted)
	}
	return err
}

// need makes sure that a pinned developer tool can be run.
func (b *bench) need(ctx context.Context, name string) error {
	if _, err := b.output(ctx, "go", "tool", toolsModule, "-n", name); err != nil {
		return errMissing{name, "connect to a Go module proxy once"}
	}
	return nil
}

// tool runs a pinned developer tool.
func tool(name string, args ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		if err := b.need(ctx, name); err != nil {
			return err
		}
		return b.show(ctx, "go", append([]string{"tool", toolsModule, name}, args...)...)
	}
}

// govulncheck looks for known vulnerabilities in a database of a pinned date, so
// that the same commit gives the same answer.
func govulncheck(ctx context.Context, b *bench) error {
	for _, name := range []string{"govulncheck", "indexdb"} {
		if err := b.need(ctx, name); err != nil {
			return err
		}
	}
	database, version, err := b.vulnerabilities(ctx)
	if err != nil {
		return errMissing{"the vulnerability database", "connect to a Go module proxy once"}
	}
	fmt.Fprintf(b.stdout, "   database: golang.org/x/vulndb %s\n", version)
	return b.show(ctx, "go", "tool", toolsModule, "govulncheck", "-db", "file://"+database, "./...")
}

// vulnerabilities returns the path of the pinned database, made from the reports
// in its module, and the module's version.
func (b *bench) vulnerabilities(ctx context.Context) (path, version string, err error) {
	const module = "golang.org/x/vulndb"
	if _, err := b.output(ctx, "go", "mod", "download", toolsModule, module); err != nil {
		return "", "", err
	}
	listed, err := b.output(ctx, "go", "list", "-m", toolsModule, "-f", "{{.Version}} {{.Dir}}", module)
	if err != nil {
		return "", "", err
	}
	version, directory, _ := strings.Cut(listed, " ")
	if path, err = filepath.Abs(filepath.Join(".build", "vulndb-"+version)); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, version, nil
	}
	// Made beside its place and then moved there, so that it is whole or absent.
	making := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.RemoveAll(making)
	if err := b.index(ctx, filepath.Join(directory, "data", "osv"), making); err != nil {
		return "", "", err
	}
	return path, version, os.Rename(making, path)
}

// index makes a database at path of the reports in a directory.
func (b *bench) index(ctx context.Context, reports, path string) error {
	return b.show(ctx, "go", "tool", toolsModule, "indexdb", "-vulns", reports, "-out", path)
}
