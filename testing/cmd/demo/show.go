package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"external-context.internal/appliance/testing/refprovider"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// envelopeLines is how many lines of the laid out envelope are shown.
	envelopeLines = 14
	// maxEnvelope is the contract's bound, in UTF-16 code units (section 5).
	maxEnvelope = 4000
)

// given shows what the product was started with. The temporary directory's path is
// left out: it says nothing.
func (p page) given(environment []string, dir string, config []byte) {
	p.section("What it was given, and nothing else of your environment")
	for _, variable := range environment {
		p.line("  " + printable(strings.ReplaceAll(variable, dir, "<temporary>")))
	}
	p.line("  " + configFile)
	for text := range strings.Lines(string(config)) {
		p.line("    " + printable(strings.TrimSuffix(text, "\n")))
	}
}

// tools shows what the model could call.
func (p page) tools(tools []*mcp.Tool) {
	p.section(fmt.Sprintf("What the model is offered: %s", count(len(tools), "tool")))
	for _, tool := range tools {
		p.line("  " + printable(tool.Name))
		p.wrapped("    ", tool.Description)
		p.line("    takes    " + printable(summary(tool.InputSchema)))
		p.line("    returns  " + printable(summary(tool.OutputSchema)))
		p.line("    hints    " + hints(tool.Annotations))
	}
}

// summary says in a line what an object schema allows.
func summary(schema any) string {
	var object struct {
		Properties map[string]struct {
			Type      string
			MinLength int
			MaxLength int
		}
		Required             []string
		AdditionalProperties *bool
	}
	data, err := json.Marshal(schema)
	if err != nil || json.Unmarshal(data, &object) != nil {
		return "a schema of another form"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		property := object.Properties[name]
		part := name + " (" + property.Type
		if property.MaxLength > 0 {
			part += fmt.Sprintf(" of %d to %d characters", property.MinLength, property.MaxLength)
		}
		if !slices.Contains(object.Required, name) {
			part += ", optional"
		}
		parts = append(parts, part+")")
	}
	if object.AdditionalProperties != nil && !*object.AdditionalProperties {
		parts = append(parts, "nothing else")
	}
	return strings.Join(parts, ", ")
}

// hints lists the annotations that are set.
func hints(a *mcp.ToolAnnotations) string {
	if a == nil {
		return "none"
	}
	var set []string
	if a.ReadOnlyHint {
		set = append(set, "readOnlyHint true")
	}
	if a.DestructiveHint != nil {
		set = append(set, fmt.Sprintf("destructiveHint %t", *a.DestructiveHint))
	}
	if a.IdempotentHint {
		set = append(set, "idempotentHint true")
	}
	if a.OpenWorldHint != nil {
		set = append(set, fmt.Sprintf("openWorldHint %t", *a.OpenWorldHint))
	}
	if set == nil {
		return "none"
	}
	return strings.Join(set, ", ")
}

// requests shows everything the provider received.
func (p page) requests(seen []exchange, token string) {
	p.section(fmt.Sprintf("What left, as the provider received it: %s", count(len(seen), "request")))
	for _, e := range seen {
		p.line("  " + printable(e.method+" "+e.path))
		headers := e.header.Clone()
		headers.Set("Host", e.host)
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			value := strings.Join(headers.Values(name), ", ")
			p.line("  " + printable(name+": "+strings.ReplaceAll(value, token, "<token>")))
		}
		p.wrapped("  ", strings.ReplaceAll(string(e.body), token, "<token>"))
	}
}

// items shows what the provider answered, before the product bounded it.
func (p page) items(seen []exchange) error {
	var found []refprovider.Item
	for _, e := range seen {
		var answer refprovider.Answer
		if err := json.Unmarshal(e.answer, &answer); err != nil {
			return fmt.Errorf("reading the provider's answer: %w", err)
		}
		found = append(found, answer.Items...)
	}
	p.section(fmt.Sprintf("What came back: %s", count(len(found), "item")))
	for i, item := range found {
		first, _, _ := strings.Cut(item.Content, "\n")
		p.line(fmt.Sprintf("  %d  %-62s score %.4f", i+1, clip(printable(item.Title), 62), item.Score))
		p.aside("     " + printable(item.URI))
		p.line("     " + printable(first))
	}
	return nil
}

// envelope shows the text the model is given and its size.
func (p page) envelope(text string) error {
	p.section(fmt.Sprintf("What the model is given: %d of at most %d code units", codeUnits(text), maxEnvelope))
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(text), "", "  "); err != nil {
		return fmt.Errorf("reading the envelope: %w", err)
	}
	lines := strings.Split(pretty.String(), "\n")
	for _, line := range lines[:min(len(lines), envelopeLines)] {
		p.folded("  ", printable(line))
	}
	if more := len(lines) - envelopeLines; more > 0 {
		p.aside(fmt.Sprintf("  … %s (laid out for reading; the model is given one line)", count(more, "more line")))
	}
	return nil
}

// refused shows a tool's error result.
func (p page) refused(text string) {
	p.section("What the model is told: the call failed")
	p.wrapped("  ", text)
}

// codeUnits returns the length of text in UTF-16 code units.
func codeUnits(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
