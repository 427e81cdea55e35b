package refprovider

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzAnyTextBecomesGoodPassages(f *testing.F) {
	for _, seed := range []string{
		"---\na: b\n---\n# A\n\ntext **bold** [l](t) `c`\n\nB\n---\n```sh\n# c\n```\n",
		"<!-- x\n-->\n~~~\n", "# A\n# A\n# A-1\n", "[[[[](](]*_*_`` ` \\", "\uFEFF\r\n\xff追跡番号\x00", strings.Repeat("ab ", 40),
	} {
		f.Add(seed)
	}
	const limit = 30
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, p := range (document{name: "a.md", text: text}).passages(limit) {
			switch {
			case seen[p.ID]:
				t.Errorf("ID %q twice", p.ID)
			case p.Title == "" || p.URI == "" || strings.TrimSpace(p.Content) == "":
				t.Errorf("an empty member in %+v", p)
			case utf8.RuneCountInString(p.Content) > limit:
				t.Errorf("%q is longer than %d", p.Content, limit)
			case !utf8.ValidString(p.Content + p.Title + p.ID):
				t.Errorf("not UTF-8: %q", p)
			}
			seen[p.ID] = true
		}
	})
}
