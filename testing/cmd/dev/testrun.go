package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"external-context.internal/appliance/testing/need"
)

// module is the prefix that package paths are shown without.
const module = "external-context.internal/appliance/"

// testEvent is a line of `go test -json`.
type testEvent struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// testName is a test, or with an empty test a package.
type testName struct{ pkg, test string }

// outer returns the test that n is a subtest of, or the package that it is in.
func (n testName) outer() (testName, bool) {
	if i := strings.LastIndexByte(n.test, '/'); i >= 0 {
		return testName{n.pkg, n.test[:i]}, true
	}
	return testName{pkg: n.pkg}, n.test != ""
}

func (n testName) String() string {
	name := strings.TrimPrefix(n.pkg, module)
	if n.test != "" {
		name += "." + n.test
	}
	return name
}

// testRun is what a run of `go test` came to.
type testRun struct {
	results map[testName]string // pass, fail or skip
	output  map[testName][]string
}

// readTestRun reads the events of one run to their end and shows progress on w.
func readTestRun(events io.Reader, w io.Writer) (*testRun, error) {
	run := &testRun{results: map[testName]string{}, output: map[testName][]string{}}
	scanner := bufio.NewScanner(events)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e testEvent
		if json.Unmarshal(scanner.Bytes(), &e) != nil {
			fmt.Fprintf(w, "%s\n", scanner.Bytes()) // not an event, so somebody's words
			continue
		}
		run.take(e, w)
	}
	return run, scanner.Err()
}

// take records one event and shows it if it ends a package or a failed test.
func (r *testRun) take(e testEvent, w io.Writer) {
	name := testName{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[name] = append(r.output[name], e.Output)
	case "build-output":
		fmt.Fprint(w, e.Output)
	case "pass", "fail", "skip":
		r.results[name] = e.Action
		if e.Test == "" {
			r.showPackage(name, e, w)
		} else if e.Action == "fail" {
			fmt.Fprint(w, strings.Join(r.output[name], ""))
		}
	}
}

// showPackage shows how a package ended, and its own output if it failed with no
// test to blame, as after a panic.
func (r *testRun) showPackage(name testName, e testEvent, w io.Writer) {
	if e.Action == "skip" {
		return // no test files
	}
	blamed := false
	for other, result := range r.results {
		blamed = blamed || other.pkg == name.pkg && other.test != "" && result == "fail"
	}
	if e.Action == "fail" && !blamed {
		fmt.Fprint(w, strings.Join(r.output[name], ""))
		for other, lines := range r.output {
			if _, ended := r.results[other]; !ended && other.pkg == name.pkg {
				fmt.Fprint(w, strings.Join(lines, ""))
			}
		}
	}
	fmt.Fprintf(w, "   %-4s %s (%.1f s)\n", e.Action, name, e.Elapsed)
}

// leaves returns the tests without subtests that ended with result, sorted. A test
// with subtests, and a package, counts if it failed and nothing inside it did.
func (r *testRun) leaves(result string) []testName {
	parents := map[testName]bool{} // packages too
	blamed := map[testName]bool{}  // a failure stands inside it
	for name, got := range r.results {
		for outer, ok := name.outer(); ok; outer, ok = outer.outer() {
			parents[outer] = true
			blamed[outer] = blamed[outer] || got == "fail"
		}
	}
	var names []testName
	for name, got := range r.results {
		leaf := name.test != "" && !parents[name]
		if got == result && (leaf || got == "fail" && !blamed[name]) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b testName) int { return cmp.Compare(a.String(), b.String()) })
	return names
}

// count returns how many tests passed, failed and were skipped.
func (r *testRun) count() (passed, failed, skipped int) {
	return len(r.leaves("pass")), len(r.leaves("fail")), len(r.leaves("skip"))
}

// failures returns the names of what failed.
func (r *testRun) failures() []string {
	var names []string
	for _, name := range r.leaves("fail") {
		names = append(names, name.String())
	}
	return names
}

// notRun returns what was skipped, each with its reason: a test by its name, and
// several of a package with one reason by their number.
func (r *testRun) notRun() []string {
	type group struct{ pkg, why string }
	tests := map[group][]testName{}
	for _, name := range r.leaves("skip") {
		g := group{name.pkg, reason(r.output[name])}
		tests[g] = append(tests[g], name)
	}
	var reasons []string
	for g, names := range tests {
		what := names[0].String()
		if len(names) > 1 {
			what = fmt.Sprintf("%s, %d tests", testName{pkg: g.pkg}, len(names))
		}
		reasons = append(reasons, what+": "+g.why)
	}
	slices.Sort(reasons)
	return reasons
}

// reason returns why a test was skipped: what package need has to say, or else the
// last line of the test's own.
func reason(output []string) string {
	why := "no reason given"
	for _, line := range output {
		if _, after, ok := strings.Cut(line, need.SkipPrefix); ok {
			return strings.TrimSpace(after)
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			why = line
		}
	}
	return why
}
