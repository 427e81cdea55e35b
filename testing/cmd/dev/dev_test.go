package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readEvents(t *testing.T) (*testRun, string) {
	t.Helper()
	events, err := os.Open("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var shown bytes.Buffer
	run, err := readTestRun(events, &shown)
	if err != nil {
		t.Fatal(err)
	}
	return run, shown.String()
}

func TestEventsAreShownAsPackagesAndFailures(t *testing.T) {
	_, shown := readEvents(t)
	const want = `   pass src/a (0.5 s)
    b_test.go:7: got 1, want 2
        b_test.go:20: deep
   fail src/b (1.2 s)
src/broken/x.go:3:1: syntax error
FAIL	src/broken [build failed]
   fail src/broken (0.0 s)
exit status 2
panic: oh
   fail src/panics (0.1 s)
this line is no event
`
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTestsWithoutSubtestsAreCounted(t *testing.T) {
	run, _ := readEvents(t)
	if passed, failed, skipped := run.count(); passed != 4 || failed != 4 || skipped != 5 {
		t.Errorf("got %d passed, %d failed, %d skipped, want 4, 4, 5", passed, failed, skipped)
	}
	// A test with subtests stands in the list only if it failed by its own hand.
	if diff := cmp.Diff([]string{"src/b.TestDeep/outer/inner", "src/b.TestFails", "src/broken", "src/panics"}, run.failures()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"src/a.TestSkipped: needs node: install Node, or run ./dev setup",
		"src/a.TestSkippedForAnotherReason: a_test.go:12: only on Tuesdays",
		"src/a.TestSkippedWithoutOne: no reason given",
		"src/none, 2 tests: needs an engine: start it",
	}, run.notRun()); diff != "" {
		t.Error(diff)
	}
}

func TestTheClosingLinesSayWhatWasNotRun(t *testing.T) {
	run, _ := readEvents(t)
	var out bytes.Buffer
	b := &bench{stdout: &out}
	err := b.conclude(report{failed: []string{"gofmt"}, notRun: []string{"staticcheck: needs staticcheck: connect"}}, run)
	if !errors.Is(err, errFailed) {
		t.Errorf("got %v, want a failure", err)
	}
	if !strings.HasSuffix(out.String(), "\n4 passed, 5 failed, 6 skipped\n") ||
		!strings.Contains(out.String(), "\nnot run: staticcheck: needs staticcheck: connect\n") ||
		!strings.Contains(out.String(), "\nnot run: src/a.TestSkipped: needs node") {
		t.Errorf("got %s", out.String())
	}
	out.Reset()
	if err := b.conclude(report{}, &testRun{results: map[testName]string{{"p", "T"}: "pass"}}); err != nil || out.String() != "\n1 passed, 0 failed, 0 skipped\n" {
		t.Errorf("got %v, %q", err, out.String())
	}
}

func TestAMissingToolIsASkipForAPersonAndAFailureInCI(t *testing.T) {
	steps := []step{
		{"missing", func(context.Context, *bench) error { return errMissing{"x", "install x"} }},
		{"well", func(context.Context, *bench) error { return nil }},
		{"broken", func(context.Context, *bench) error { return errors.New("no") }},
	}
	for _, c := range []struct {
		ci   bool
		want report
	}{
		{false, report{well: 1, failed: []string{"broken"}, notRun: []string{"missing: needs x: install x"}}},
		{true, report{well: 1, failed: []string{"missing", "broken"}}},
	} {
		b := &bench{stdout: &bytes.Buffer{}, ci: c.ci}
		if diff := cmp.Diff(c.want, b.carryOut(t.Context(), steps), cmp.AllowUnexported(report{})); diff != "" {
			t.Errorf("CI %v: %s", c.ci, diff)
		}
	}
}

func TestFuzzTargetsAreReadFromTheList(t *testing.T) {
	got := parseFuzzTargets("FuzzA\nFuzzB\nok  \tm/p\t0.01s\nok  \tm/q\t0.01s\n?   \tm/r\t[no test files]\nFuzzC\nok  \tm/s\t0.01s\n")
	want := []testName{{"m/p", "FuzzA"}, {"m/p", "FuzzB"}, {"m/s", "FuzzC"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{nil, exitOK, ""},
		{[]string{"help"}, exitOK, ""},
		{[]string{"nonsense"}, exitUsage, "dev: no such command; ./dev help lists them\n"},
		{[]string{"test", "extra"}, exitUsage, "dev: too many arguments for test; ./dev help lists them, and quotes keep words together\n"},
		{[]string{"demo", "a", "b"}, exitUsage, "dev: too many arguments for demo; ./dev help lists them, and quotes keep words together\n"},
		{[]string{"fuzz", "soon"}, exitFailed, "dev: \"soon\" is no duration; write one like 60s or 5m\n"},
		{[]string{"fuzz", "-1s"}, exitFailed, "dev: \"-1s\" is no duration; write one like 60s or 5m\n"},
	} {
		var stdout, stderr bytes.Buffer
		b := &bench{stdout: &stdout, stderr: &stderr}
		if code := b.dispatch(t.Context(), c.args); code != c.code || stderr.String() != c.stderr {
			t.Errorf("%q: got %d, %q, want %d, %q", c.args, code, stderr.String(), c.code, c.stderr)
		}
		if c.code == exitOK && !strings.Contains(stdout.String(), "./dev test") {
			t.Errorf("%q: no help in %q", c.args, stdout.String())
		}
	}
}

func TestTheReadmeQuotesTheHelpText(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	help(&text)
	if !bytes.Contains(readme, text.Bytes()) {
		t.Errorf("README.md does not hold what ./dev help prints:\n%s", text.String())
	}
}
