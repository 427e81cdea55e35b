package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
)

// test runs the checks and all tests, and says at the end what was not run.
func test(ctx context.Context, b *bench, _ []string) error {
	r := b.carryOut(ctx, checks())
	fmt.Fprintln(b.stdout, "== go test")
	tests, err := b.goTest(ctx, "./...")
	if err != nil {
		return err
	}
	race, err := b.race(ctx, &r)
	if err != nil {
		return err
	}
	return b.conclude(r, tests, race)
}

// race runs the product's own tests once more under the race detector, which
// needs a C compiler.
func (b *bench) race(ctx context.Context, r *report) (*testRun, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		missing := errMissing{"gcc", "install a C compiler"}
		if b.ci {
			r.failed = append(r.failed, "go test -race: "+missing.Error())
		} else {
			r.notRun = append(r.notRun, "go test -race: "+missing.Error())
		}
		return &testRun{}, nil
	}
	fmt.Fprintln(b.stdout, "== go test -race")
	return b.goTest(ctx, "-race", "./src/...")
}

// lint runs the checks alone.
func lint(ctx context.Context, b *bench, _ []string) error {
	return b.conclude(b.carryOut(ctx, checks()))
}

// conclude prints what was not run and why, what failed, and the closing line.
func (b *bench) conclude(r report, runs ...*testRun) error {
	passed, failed, skipped := 0, len(r.failed), len(r.notRun)
	for _, run := range runs {
		p, f, s := run.count()
		passed, failed, skipped = passed+p, failed+f, skipped+s
	}
	for _, run := range runs {
		r.notRun = append(r.notRun, run.notRun()...)
		r.failed = append(r.failed, run.failures()...)
	}
	fmt.Fprintln(b.stdout)
	// A test that was run twice, the second time under the race detector, is
	// named once.
	for _, reason := range unique(r.notRun) {
		fmt.Fprintf(b.stdout, "not run: %s\n", reason)
	}
	for _, name := range unique(r.failed) {
		fmt.Fprintf(b.stdout, "failed: %s\n", name)
	}
	if len(runs) > 0 {
		fmt.Fprintf(b.stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	}
	if failed > 0 {
		return errFailed
	}
	return nil
}

// unique returns the lines sorted, each once.
func unique(lines []string) []string { return slices.Compact(slices.Sorted(slices.Values(lines))) }

// goTest runs `go test -json` and shows a line for each package, and the whole
// output of what fails.
func (b *bench) goTest(ctx context.Context, args ...string) (*testRun, error) {
	cmd := tests(ctx, append([]string{"-json", "-timeout", "15m"}, args...)...)
	cmd.Stderr = b.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	run, err := readTestRun(out, b.stdout)
	if err != nil {
		return nil, err
	}
	// A failure shows in the events; one that does not is counted here.
	if err := wait(ctx, cmd); err != nil && len(run.failures()) == 0 {
		run.results[testName{pkg: "go test"}] = "fail"
	}
	return run, nil
}
