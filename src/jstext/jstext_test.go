package jstext_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"

	"external-context.internal/appliance/src/jstext"
)

func TestUnquoteReadsWhatJSONParseReads(t *testing.T) {
	for _, c := range []struct {
		name, literal string
		want          jstext.Text
	}{
		{"empty", `""`, jstext.Text{}},
		{"ASCII", `"ab"`, jstext.Text{'a', 'b'}},
		{"every short escape", `"\"\\\/\b\f\n\r\t"`, jstext.Text{'"', '\\', '/', '\b', '\f', '\n', '\r', '\t'}},
		{"hexadecimal in both cases", `"\u00e9\u00E9"`, jstext.Text{'é', 'é'}},
		{"raw astral character", `"😀"`, jstext.Text{0x1F600}},
		{"escaped pair is one code point", `"\ud83d\ude00"`, jstext.Text{0x1F600}},
		{"high surrogate alone", `"\ud83d"`, jstext.Text{0xD83D}},
		{"low surrogate alone", `"\ude00"`, jstext.Text{0xDE00}},
		{"pair in the wrong order stays two", `"\ude00\ud83d"`, jstext.Text{0xDE00, 0xD83D}},
		{"high, then pair", `"\ud83d\ud83d\ude00"`, jstext.Text{0xD83D, 0x1F600}},
		{"high, character, low", `"\ud83dx\ude00"`, jstext.Text{0xD83D, 'x', 0xDE00}},
		{"first and last code point", `"\u0000` + "\U0010FFFF" + `"`, jstext.Text{0, 0x10FFFF}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := jstext.Unquote([]byte(c.literal))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Unquote(%s) = %U, %v, want %U", c.literal, []rune(got), err, []rune(c.want))
			}
		})
	}
}

func TestUnquoteRefusesWhatIsNotOneLiteral(t *testing.T) {
	for _, literal := range []string{
		``, `"`, `a`, `null`, `"a`, `a"`, `"a"b"`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u"`,
		"\"\n\"", "\"\x1f\"", "\"\xff\"", "\"\xed\xa0\x80\"", `'a'`, ` "a"`,
	} {
		if got, err := jstext.Unquote([]byte(literal)); err == nil {
			t.Errorf("Unquote(%q) = %U, want an error", literal, []rune(got))
		}
	}
}

func TestQuotedTextReadsBackAsItself(t *testing.T) {
	// Every code point, surrogates included, each beside a letter so that no two
	// of them can pair.
	for r := rune(0); r <= 0x10FFFF; r++ {
		text := jstext.Text{r, 'x'}
		quoted := jstext.AppendQuoted(nil, text)
		back, err := jstext.Unquote(quoted)
		if err != nil || !slices.Equal(back, text) {
			t.Fatalf("%U came back as %U, %v from %q", r, []rune(back), err, quoted)
		}
	}
}

func TestUnitsCountsUTF16CodeUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{{"", 0}, {"a", 1}, {"é", 1}, {"日本", 2}, {"\uffff", 1}, {"\U00010000", 2}, {"a😀b", 4}} {
		if got := jstext.Units([]byte(c.text)); got != c.want {
			t.Errorf("Units(%q) = %d, want %d", c.text, got, c.want)
		}
		if got := len(utf16.Encode([]rune(c.text))); got != c.want {
			t.Errorf("the standard library counts %d in %q, want %d", got, c.text, c.want)
		}
	}
}

func TestWellFormedMeansNoUnpairedSurrogate(t *testing.T) {
	for _, c := range []struct {
		text jstext.Text
		want bool
	}{
		{nil, true}, {jstext.FromString("日本 😀"), true},
		{jstext.Text{0xD7FF, 0xE000}, true}, {jstext.Text{0xD800}, false}, {jstext.Text{'a', 0xDFFF}, false},
	} {
		if got := c.text.WellFormed(); got != c.want {
			t.Errorf("WellFormed(%U) = %v, want %v", []rune(c.text), got, c.want)
		}
	}
}

// The set of the contract, written out once more so that a slip in either place
// shows.
func TestIsSpaceIsExactlyJavaScriptsClass(t *testing.T) {
	space := map[rune]bool{' ': true, 0xA0: true, 0x1680: true, 0x2028: true, 0x2029: true, 0x202F: true,
		0x205F: true, 0x3000: true, 0xFEFF: true}
	for r := rune(0x09); r <= 0x0D; r++ {
		space[r] = true
	}
	for r := rune(0x2000); r <= 0x200A; r++ {
		space[r] = true
	}
	for r := rune(0); r <= 0x10FFFF; r++ {
		if got := jstext.IsSpace(r); got != space[r] {
			t.Errorf("IsSpace(%U) = %v, want %v", r, got, space[r])
		}
	}
}

func FuzzUnquoteAgreesWithEncodingJSON(f *testing.F) {
	f.Add([]byte(`"a\ud83d\ude00\n"`))
	f.Add([]byte(`"\ud83d"`))
	f.Add([]byte("\"\xff\""))
	f.Fuzz(func(t *testing.T, literal []byte) {
		text, err := jstext.Unquote(literal)
		if err != nil {
			return
		}
		var want string
		if err := json.Unmarshal(literal, &want); err != nil {
			t.Fatalf("accepted %q, which is not JSON: %v", literal, err)
		}
		// The standard library puts U+FFFD for an unpaired surrogate; so does String.
		if got := text.String(); got != want {
			t.Fatalf("Unquote(%q) = %q, want %q", literal, got, want)
		}
		if again, err := jstext.Unquote(jstext.AppendQuoted(nil, text)); err != nil || !slices.Equal(again, text) {
			t.Fatalf("%q does not read back: %U, %v", literal, []rune(again), err)
		}
	})
}

func ExampleAppendQuoted() {
	text, _ := jstext.Unquote([]byte(`"caf\u00e9 \u0007 \ud83d\ude00 \ud83d"`))
	fmt.Println(len(text), string(jstext.AppendQuoted(nil, text)))
	// Output: 10 "café \u0007 😀 \ud83d"
}
