package fakes_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakes"
)

func TestLeaksAreFoundInTheFormsTextGetsAboutIn(t *testing.T) {
	canary := fakes.Canary()
	if fakes.Canary() == canary {
		t.Error("two canaries are alike")
	}
	for name, c := range map[string]struct {
		text string
		leak bool
	}{
		"plain":                {"x" + canary + "y", true},
		"upper case":           {strings.ToUpper(canary), true},
		"hexadecimal":          {hex.EncodeToString([]byte(canary)), true},
		"base64":               {base64.StdEncoding.EncodeToString([]byte(canary)), true},
		"base64 behind 1 byte": {base64.StdEncoding.EncodeToString([]byte("x" + canary + "y")), true},
		"base64 behind 2":      {base64.StdEncoding.EncodeToString([]byte("xy" + canary)), true},
		"basic authorization":  {base64.StdEncoding.EncodeToString([]byte("user:" + canary)), true},
		"JSON escapes":         {jsonEscapes(canary), true},
		"JSON, some escaped":   {jsonEscapes(canary[:5]) + canary[5:], true},
		"bytes as Go prints":   {fmt.Sprint([]byte("x" + canary + "y")), true},
		"Go's %x with blanks":  {fmt.Sprintf("% x", canary), true},
		"backwards":            {backwards(canary), true},
		"half of it":           {canary[:len(canary)/2], false},
		"nothing":              {"", false},
	} {
		if got := fakes.Leaks([]string{canary}, []byte(c.text)); (len(got) == 1) != c.leak {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func jsonEscapes(text string) string {
	var escaped strings.Builder
	for _, r := range text {
		fmt.Fprintf(&escaped, "\\u%04x", r)
	}
	return escaped.String()
}

func backwards(text string) string {
	bytes := []byte(text)
	slices.Reverse(bytes)
	return string(bytes)
}

func TestWhatIsLookedForMayBeAnyText(t *testing.T) {
	for name, c := range map[string]struct{ canary, text string }{
		"upper case":             {"FAKE-Secret-Value", "x FAKE-Secret-Value"},
		"upper case, lowered":    {"FAKE-Secret-Value", "x fake-secret-value"},
		"upper case in base64":   {"FAKE-Secret-Value", base64.StdEncoding.EncodeToString([]byte("x FAKE-Secret-Value"))},
		"base64 for URLs":        {"fake>>>???secret>>>???", base64.RawURLEncoding.EncodeToString([]byte("x fake>>>???secret>>>???"))},
		"an address in a URL":    {"127.0.0.1:4711", "?to=" + url.QueryEscape("127.0.0.1:4711")},
		"quotes in JSON":         {`fake "quoted" \ text`, `{"a":"fake \"quoted\" \\ text"}`},
		"a short text":           {"canary", "a canary."},
		"blanks in a URL's path": {"two words", "/" + url.PathEscape("two words")},
	} {
		if len(fakes.Leaks([]string{c.canary}, []byte("nothing"), []byte(c.text))) != 1 {
			t.Errorf("%s: %q is not found in %q", name, c.canary, c.text)
		}
		if len(fakes.Leaks([]string{c.canary}, []byte("nothing"))) != 0 {
			t.Errorf("%s: %q is found in another text", name, c.canary)
		}
	}
}

func TestEachLeakIsNamedOnce(t *testing.T) {
	one, two, three := fakes.Canary(), fakes.Canary(), fakes.Canary()
	got := fakes.Leaks([]string{one, two, three}, []byte(three+one), []byte(one))
	if !slices.Equal(got, []string{one, three}) {
		t.Errorf("got %v, want %v", got, []string{one, three})
	}
}
