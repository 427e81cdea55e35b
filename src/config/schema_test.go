package config_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"external-context.internal/appliance/policy"
	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/testing/configcases"
	"github.com/google/jsonschema-go/jsonschema"
)

// publishedSchema is the schema that administrators' editors use.
func publishedSchema(tb testing.TB) *jsonschema.Resolved {
	tb.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(policy.ConfigSchema, &schema); err != nil {
		tb.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return resolved
}

// valid reports that text is a document the schema accepts.
func valid(schema *jsonschema.Resolved, text string) bool {
	var document any
	return json.Unmarshal([]byte(text), &document) == nil && schema.Validate(document) == nil
}

func TestSchemaAndParserAgree(t *testing.T) {
	schema := publishedSchema(t)
	for _, c := range configcases.Accepted() {
		if text := c.With("canary"); !valid(schema, text) {
			t.Errorf("%s: the parser accepts what the schema refuses: %s", c.Name, text)
		}
	}
	for _, c := range configcases.Rejected() {
		if strings.HasSuffix(c.Line, "is not valid JSON.") {
			continue // no document that a schema could look at
		}
		accepted := valid(schema, c.With("canary"))
		switch {
		case accepted && c.SchemaCannotSay == "":
			t.Errorf("%s: the schema accepts what the parser refuses: %s", c.Name, c.Text)
		case !accepted && c.SchemaCannotSay != "":
			t.Errorf("%s: the schema does say what it is thought not to: %s", c.Name, c.SchemaCannotSay)
		}
	}
}

func TestExamplesAreAcceptedByParserAndSchema(t *testing.T) {
	schema := publishedSchema(t)
	names, err := fs.Glob(policy.Examples, "examples/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		text, err := policy.Examples.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !valid(schema, string(text)) {
			t.Errorf("%s: refused by the schema", name)
		}
		if inName := strings.Contains(name, ".v2."); inName != (cfg.Version == 2) {
			t.Errorf("%s: is version %d", name, cfg.Version)
		}
	}
}

func FuzzOriginSchemaAndParserAgree(f *testing.F) {
	schema := publishedSchema(f)
	document := func(origin string) string {
		text, err := json.Marshal(map[string]any{"version": 1,
			"provider": map[string]string{"type": "generic-http-search-v1", "tokenEnv": "T", "baseUrl": origin}})
		if err != nil {
			f.Fatal(err)
		}
		return string(text)
	}
	f.Add("https://a.example:443/")
	f.Add("http://[::1]:8080")
	f.Add("https://[2001:db8::1]")
	f.Fuzz(func(t *testing.T, origin string) {
		// A pattern cannot count a whole name or know which colons make an address.
		if len(origin) > 200 || strings.Contains(origin, "[") {
			return
		}
		text := document(origin)
		_, err := config.Parse([]byte(text))
		if accepted := valid(schema, text); accepted != (err == nil) {
			t.Errorf("%q: schema accepts: %v, parser: %v", origin, accepted, err)
		}
	})
}
