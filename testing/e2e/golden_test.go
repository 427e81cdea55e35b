package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/need"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares v, as indented JSON with the replacements made, with a file that
// is in review what an outsider sees.
func golden(t *testing.T, name string, v any, replace ...string) {
	t.Helper()
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer(replace...).Replace(encoded.String())
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./testing/e2e -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s has changed; go test ./testing/e2e -update writes it anew:\n%s", name, diff)
	}
}

// TestTheSessionIsWhatWasReviewed holds all that Qwen Code is started with: a
// session of these tests is the one that the golden file shows.
func TestTheSessionIsWhatWasReviewed(t *testing.T) {
	s := newSession(t)
	s.prepare()
	golden(t, "session.json", object{
		"argv":          s.argv(),
		"environment":   s.environment,
		"settings.json": s.settings,
		"mcp.json":      s.mcpConfig(),
		"provider.json": s.config,
	}, need.Node(t), "NODE", need.NodeModules(t), "NODE_MODULES", s.program, "EXTCTX", s.dir, "DIR",
		s.model.URL(), "MODEL", s.provider.URL(), "PROVIDER", s.proxy.URL(), "PROXY")
}
