package e2e

import (
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakemodel"
	"github.com/google/go-cmp/cmp"
)

// TestABadQueryIsExplainedToTheModelAndDoesNotLeave makes all calls in one answer.
// Qwen Code 0.24.4 holds arguments against the input schema before the product
// sees them; what a schema cannot say the product says.
func TestABadQueryIsExplainedToTheModelAndDoesNotLeave(t *testing.T) {
	const (
		blank     = `{"query":" ` + "\u3000" + ` "}`
		surrogate = `{"query":"a\ud83d b"}`
	)
	cases := []struct{ arguments, want string }{
		{query(strings.Repeat("x", 2001)), "params/query must NOT have more than 2000 characters"},
		{query(strings.Repeat("😀", 2001)), "params/query must NOT have more than 2000 characters"},
		{`{"query":""}`, "params/query must NOT have fewer than 1 characters"},
		{`{"query":"x","limit":50}`, "params must NOT have additional properties"},
		{`{"query":["x"]}`, "params/query must be string"},
		{`{"query":{"text":"x"}}`, "params/query must be string"},
		{`{}`, "params must have required property 'query'"},
		{blank, toolError(blank, "query must not be empty or only whitespace. Say what to search for.")},
		{surrogate, toolError(surrogate, "query must be valid Unicode text without unpaired surrogates. Correct it and search again.")},
	}
	s := newSession(t)
	var calls []fakemodel.Call
	var want []string
	for _, c := range cases {
		calls, want = append(calls, search(c.arguments)), append(want, c.want)
	}
	if diff := cmp.Diff(want, s.run(calls...)); diff != "" {
		t.Errorf("the model was given something else: %s", diff)
	}
	if s.provider.Count() != 0 {
		t.Errorf("%d requests left", s.provider.Count())
	}
}

// The other side of the rules above.
func TestAGoodQueryLeaves(t *testing.T) {
	longest := []string{strings.Repeat("x", 2000), strings.Repeat("😀", 2000)}
	cases := []struct{ arguments, want string }{
		{query(longest[0]), longest[0]},
		{query(longest[1]), longest[1]},
		{`{"query":5}`, "5"}, // Qwen Code makes a string of a number
	}
	s := newSession(t)
	var calls []fakemodel.Call
	var want, got []string
	for _, c := range cases {
		calls, want = append(calls, search(c.arguments)), append(want, `{"query":"`+c.want+`","limit":5}`)
	}
	s.run(calls...)
	for _, request := range s.provider.Requests() {
		got = append(got, string(request.Body))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the provider received something else: %s", diff)
	}
}

// query is the arguments with a query that needs no escape.
func query(text string) string { return `{"query":"` + text + `"}` }
