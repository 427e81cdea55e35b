package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakemodel"
	"github.com/google/go-cmp/cmp"
)

// offered returns what of the product the model was offered, by tool name.
func (s *session) offered() map[string]fakemodel.Function {
	tools := map[string]fakemodel.Function{}
	for _, request := range s.model.Requests() {
		for _, t := range request.Tools {
			if strings.Contains(t.Function.Name, "external") || strings.Contains(t.Function.Name, "context_") {
				tools[t.Function.Name] = t.Function
			}
		}
	}
	return tools
}

func TestTheModelIsOfferedOneToolThatTakesAQuery(t *testing.T) {
	s := newSession(t)
	s.run()
	tools := s.offered()
	if names := slices.Collect(maps.Keys(tools)); !cmp.Equal(names, []string{tool}) {
		t.Fatalf("offered: %q", names)
	}
	golden(t, "tool.json", tools[tool])
}

// Without tools.visible the model sees the tool only if it thinks of asking
// tool_search for it. That hides the tool and guards nothing: a model that knows
// the name may call it.
func TestAToolThatIsNotMadeVisibleIsBehindToolSearch(t *testing.T) {
	s := newSession(t)
	s.settings = with(s.settings, "tools", object{"approvalMode": "default"})
	results := s.run(fakemodel.Call{Tool: "tool_search", Arguments: `{"query":"external context"}`}, search(`{"query":"x"}`))
	if tools := s.offered(); len(tools) != 0 {
		t.Errorf("offered: %v; the setting tools.visible is no longer needed", tools)
	}
	if len(results) != 2 || !strings.Contains(results[0], `"name":"`+tool+`"`) {
		t.Errorf("tool_search found %.300q", results)
	}
	if s.provider.Count() != 1 {
		t.Errorf("%d requests left for a call by name", s.provider.Count())
	}
}
