package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// fuzz runs every fuzz target of the module for the given time, 60 s if none is
// given.
func fuzz(ctx context.Context, b *bench, args []string) error {
	each := 60 * time.Second
	if len(args) == 1 {
		var err error
		if each, err = time.ParseDuration(args[0]); err != nil || each <= 0 {
			return fmt.Errorf("%q is no duration; write one like 60s or 5m", args[0])
		}
	}
	targets, err := b.fuzzTargets(ctx)
	if err != nil {
		return err
	}
	var steps []step
	for _, target := range targets {
		// Left to itself, Go spends up to a minute on making one long input shorter.
		steps = append(steps, step{target.String(), fuzzOne("-run", "^$",
			"-fuzz", "^"+target.test+"$", "-fuzztime", each.String(), "-fuzzminimizetime", "20x", target.pkg)})
	}
	r := b.carryOut(ctx, steps)
	fmt.Fprintf(b.stdout, "\n%d of %d targets ran for %s without a finding\n", r.well, len(steps), each)
	for _, name := range r.failed {
		fmt.Fprintf(b.stdout, "failed: %s\n", name)
	}
	if len(r.failed) > 0 {
		return errFailed
	}
	return nil
}

// fuzzOne runs `go test` with its output shown.
func fuzzOne(args ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		cmd := tests(ctx, args...)
		cmd.Stdout, cmd.Stderr = b.stdout, b.stderr
		if err := cmd.Start(); err != nil {
			return err
		}
		return wait(ctx, cmd)
	}
}

// fuzzTargets lists the module's fuzz targets.
func (b *bench) fuzzTargets(ctx context.Context) ([]testName, error) {
	listed, err := b.output(ctx, "go", "test", "-list", "^Fuzz", "./...")
	if err != nil {
		return nil, err
	}
	return parseFuzzTargets(listed), nil
}

// parseFuzzTargets reads the output of `go test -list`: the names of a package,
// then a line that ends its list and names it.
func parseFuzzTargets(listed string) []testName {
	var targets []testName
	var names []string
	for line := range strings.Lines(listed) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && fields[0] == "ok":
			for _, name := range names {
				targets = append(targets, testName{fields[1], name})
			}
			names = nil
		}
	}
	return targets
}
