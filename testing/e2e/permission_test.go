package e2e

import (
	"maps"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakemodel"
)

// judge is the tool by which Qwen Code has a model judge a call.
const judge = "respond_in_schema"

func judged(verdict string) fakemodel.Step {
	return fakemodel.Step{When: fakemodel.Offered(judge), Calls: []fakemodel.Call{{Tool: judge, Arguments: verdict}}}
}

// TestWhoDecidesWhetherASearchLeaves has nobody to ask: the session is headless. A
// rule decides, or the approval mode does. Without either, Qwen Code 0.24.4 is in
// its auto mode, where the model decides about itself.
func TestWhoDecidesWhetherASearchLeaves(t *testing.T) {
	const (
		served   = head + `{"id":"1","content":"The answer."}` + tail
		declined = `Qwen Code requires permission to use "` + tool + `", but that permission was declined`
		nobody   = declined + ` (non-interactive mode cannot prompt for confirmation).`
		stopped  = "Blocked by auto mode policy: no"
	)
	for _, c := range []struct {
		name        string
		permissions object
		mode        object
		verdicts    []fakemodel.Step
		leaves      int
		want        string
	}{
		{"allowed by a rule", object{"allow": []string{tool}}, object{}, nil, 1, served},
		{"a rule to ask", object{"ask": []string{tool}}, object{}, nil, 0, nobody},
		{"denied by a rule", object{"deny": []string{tool}}, object{}, nil, 0, declined + `. Matching deny rule: "` + tool + `".`},
		{"no rule, mode default", object{}, object{"approvalMode": "default"}, nil, 0, nobody},
		{"no rule, no mode, the model lets itself", object{}, object{},
			[]fakemodel.Step{judged(`{"shouldBlock":false}`)}, 1, served},
		{"no rule, no mode, the model stops itself", object{}, object{},
			[]fakemodel.Step{judged(`{"shouldBlock":true}`), judged(`{"thinking":"no","shouldBlock":true,"reason":"no"}`)}, 0, stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			tools := object{"visible": []string{tool}}
			maps.Copy(tools, c.mode)
			s.settings = with(with(s.settings, "tools", tools), "permissions", c.permissions)
			results := s.carryOut(append(c.verdicts, asked(search(`{"query":"x"}`)))...)
			if s.provider.Count() != c.leaves {
				t.Errorf("%d requests left", s.provider.Count())
			}
			// To a model that it stopped, Qwen Code says more on further lines.
			if got, _, _ := strings.Cut(strings.Join(results, ""), "\n"); got != c.want {
				t.Errorf("the model was given %q, want %q", results, c.want)
			}
		})
	}
}
