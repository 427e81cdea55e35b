package house

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRulesOfSource shows each rule both what it is against and what it is not.
func TestRulesOfSource(t *testing.T) {
	state := declarations(stateless("p/f.go", []string{"p/f.go: version"}))
	for _, c := range []struct {
		name   string
		rule   func(file) []string
		source string
		want   []string
	}{
		{"a function without a comment", declarations(documented), "func F() {}", []string{"line 2: F has no comment"}},
		{"a function with one", declarations(documented), "// F is.\nfunc F() {}", nil},
		{"a directive is no comment", declarations(documented), "//go:noinline\nfunc F() {}", []string{"line 3: F has no comment"}},
		{"a function of the package's own", declarations(documented), "func f() {}", nil},
		{"a method of an exported type", declarations(documented), "func (t *T[A]) M() {}", []string{"line 2: M has no comment"}},
		{"a method of another type", declarations(documented), "func (t *u) M() {}", nil},
		{"a type without a comment", declarations(documented), "type T int", []string{"line 2: T has no comment"}},
		{"a type with one", declarations(documented), "// T is.\ntype T int", nil},
		{"a group without a comment", declarations(documented), "const (\n\tA = 1\n\tb = 2\n)", []string{"line 3: A has no comment"}},
		{"a group with one", declarations(documented), "// Both are.\nconst (\n\tA = 1\n\tB = 2\n)", nil},
		{"a constant with one behind it", declarations(documented), "const (\n\tA = 1 // A is.\n)", nil},

		{"a map", state, "var m = map[string]int{}", []string{"line 2: m is a variable of the package: pass it in"}},
		{"a variable without a value", state, "var a, b int", []string{
			"line 2: a is a variable of the package: pass it in", "line 2: b is a variable of the package: pass it in"}},
		{"an error and a map", state, "var e, m = errors.New(\"e\"), f()", []string{"line 2: m is a variable of the package: pass it in"}},
		{"errors and patterns", state, "var (\n\te = errors.New(\"e\")\n\tw = fmt.Errorf(\"w: %w\", e)\n\tp = regexp.MustCompile(`p`)\n)", nil},
		{"an embedded file", state, "//go:embed f\nvar f string", nil},
		{"a check of an interface", state, "var _ error = (*T)(nil)", nil},
		{"a constant", state, "const c = 1", nil},
		{"an allowed variable", state, "var version string", nil},
		{"a variable in a function", state, "func f() { var m map[string]int; _ = m }", nil},

		{"func init", declarations(noInit), "func init() {}", []string{"line 2: func init runs before main can decide anything"}},
		{"a method of that name", declarations(noInit), "func (t T) init() {}", nil},
		{"another function", declarations(noInit), "func initialize() {}", nil},

		{"the longest file", short, strings.Repeat("\n", longest-2), nil},
		{"a line more", short, strings.Repeat("\n", longest-1), []string{"401 lines, and 400 are the most: split it"}},
		{"no Go", declarations(noInit), "fun", []string{"p/f.go:2:1: expected declaration, found fun"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.rule(file{"p/f.go", []byte("package p\n" + c.source + "\n")})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
