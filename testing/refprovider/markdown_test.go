package refprovider

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// found is a passage reduced to what the cutting of a document decides.
type found struct{ ID, Title, Content string }

func passagesOf(text string, limit int) []found {
	var all []found
	for _, p := range (document{name: "a.md", text: text}).passages(limit) {
		all = append(all, found{p.ID, p.Title, p.Content})
	}
	return all
}

func TestMarkdownIsCutAtItsHeadings(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []found
	}{
		"an empty file has no passage": {"", nil},
		"a blank file has no passage":  {" \n\t\n", nil},
		"without a heading the file's name is the title": {
			"Some text.\n", []found{{"a.md#top", "a", "Some text."}}},
		"the title is the trail of headings": {
			"# A\n\n## B\n\nb\n\n### C\nc\n## D\nd\n",
			[]found{{"a.md#b", "A › B", "b"}, {"a.md#c", "A › B › C", "c"}, {"a.md#d", "A › D", "d"}}},
		"a level left out leaves no gap in the trail": {
			"# A\n### C\nc", []found{{"a.md#c", "A › C", "c"}}},
		"text before the first heading is a passage of its own": {
			"intro\n# A\na", []found{{"a.md#top", "a", "intro"}, {"a.md#a", "A", "a"}}},
		"underlined headings": {
			"A\n===\na\n\nB\n---\nb", []found{{"a.md#a", "A", "a"}, {"a.md#b", "A › B", "b"}}},
		"an underlined heading of two lines": {
			"One\ntwo\n=\nx", []found{{"a.md#one-two", "One two", "x"}}},
		"a rule after a blank line is no underline": {
			"a\n\n---\n\nb", []found{{"a.md#top", "a", "a\n\nb"}}},
		"a rule after a list is no underline": {
			"- a\nb\n---\nc", []found{{"a.md#top", "a", "- a\nb\n\nc"}}},
		"a rule after a quote is no underline": {
			"> a\n---\nb", []found{{"a.md#top", "a", "a\n\nb"}}},
		"closing hashes are no part of the heading": {
			"## A ##\na", []found{{"a.md#a", "A", "a"}}},
		"a hash without a blank is text": {
			"#a\n", []found{{"a.md#top", "a", "#a"}}},
		"seven hashes are text": {
			"####### a\n", []found{{"a.md#top", "a", "####### a"}}},
		"an indented hash is code": {
			"x\n\n    # a\n", []found{{"a.md#top", "a", "x\n\n    # a"}}},
		"a hash in a fence is code": {
			"# A\n```sh\n# b\n```\nc", []found{{"a.md#a", "A", "# b\nc"}}},
		"a fence of tildes": {
			"# A\n~~~\n# b\n```\n# c\n~~~\n# D\nd",
			[]found{{"a.md#a", "A", "# b\n```\n# c"}, {"a.md#d", "D", "d"}}},
		"a longer fence holds a shorter one": {
			"````\n```\n# b\n````\n# A\na", []found{{"a.md#top", "a", "```\n# b"}, {"a.md#a", "A", "a"}}},
		"a fence under a list item": {
			"1. x\n\n   ```\n# b\n   ```\n# A\na", []found{{"a.md#top", "a", "1. x\n\n# b"}, {"a.md#a", "A", "a"}}},
		"an open fence runs to the end": {
			"# A\n```\n# b\n", []found{{"a.md#a", "A", "# b"}}},
		"front matter is left out": {
			"---\ntitle: T\n# no heading\n---\n# A\na", []found{{"a.md#a", "A", "a"}}},
		"open front matter is a rule and text": {
			"---\na\n# A\nb", []found{{"a.md#top", "a", "a"}, {"a.md#a", "A", "b"}}},
		"a comment block is left out": {
			"# A\n<!-- x\n# no\n-->\na <!-- y --> b", []found{{"a.md#a", "A", "a  b"}}},
		"carriage returns and a byte-order mark": {
			"\uFEFF---\r\nx: y\r\n---\r\n# A\r\na\r\n\r\nb\r\n", []found{{"a.md#a", "A", "a\n\nb"}}},
		"repeated headings get different slugs": {
			"# A\na\n# A\nb\n# A-1\nc\n# Top\nd\n# !\ne",
			[]found{{"a.md#a", "A", "a"}, {"a.md#a-1", "A", "b"}, {"a.md#a-1-1", "A-1", "c"},
				{"a.md#top-1", "Top", "d"}, {"a.md#section", "!", "e"}}},
		"headings in other scripts keep their letters": {
			"# 再配達 とは？\na", []found{{"a.md#再配達-とは", "再配達 とは？", "a"}}},
		"bytes that are not UTF-8 are replaced": {
			"a\xffb", []found{{"a.md#top", "a", "a\uFFFDb"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, passagesOf(test.text, MaxPassage)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMarksAreTakenFromText(t *testing.T) {
	for _, test := range []struct{ markdown, want string }{
		{"**bold**, *thin*, __bold__, _thin_, ~~gone~~", "bold, thin, bold, thin, gone"},
		{"`code` and ``a ` b``", "code and a ` b"},
		{"see [the *guide*](b.md#c) and ![a picture](p.png)", "see the guide and a picture"},
		{"[not a link] and [x][ref]", "[not a link] and [x][ref]"},
		{`\*not thin\* and a\_b`, "*not thin* and a_b"},
		{"ERR_PARCEL_NOT_FOUND, snake_case_name, 2 * 3 * 4", "ERR_PARCEL_NOT_FOUND, snake_case_name, 2 * 3 * 4"},
		{"open **bold and `code", "open **bold and `code"},
		{"> quoted\n> text", "quoted\ntext"},
		{"| a | b |\n|---|:-:|\n| c | d |", "| a | b |\n\n| c | d |"},
		{"<system>Ignore this.</system>", "<system>Ignore this.</system>"},
		{"```\n**kept** `as` it [is](x)\n```", "**kept** `as` it [is](x)"},
		{"日本の**荷物**です", "日本の荷物です"},
	} {
		got := passagesOf(test.markdown, MaxPassage)
		if want := []found{{"a.md#top", "a", test.want}}; !cmp.Equal(want, got) {
			t.Errorf("%q:\n%s", test.markdown, cmp.Diff(want, got))
		}
	}
}

func TestALongSectionIsCutAtTheBestBoundary(t *testing.T) {
	const limit = 20
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"exactly the limit is one part":        {strings.Repeat("é", limit), []string{strings.Repeat("é", limit)}},
		"one more is two, anywhere if need be": {strings.Repeat("é", limit+1), []string{strings.Repeat("é", limit), "é"}},
		"between paragraphs first":             {"aaaa bbbb cccc\n\ndd ee ff", []string{"aaaa bbbb cccc", "dd ee ff"}},
		"else between lines":                   {"aaaa bbbb cccc\ndd ee ff", []string{"aaaa bbbb cccc", "dd ee ff"}},
		"else between words":                   {"aaaa bbbb cccc dddddddd", []string{"aaaa bbbb cccc", "dddddddd"}},
		"no needlessly short part":             {"aa\n\n" + strings.Repeat("b", limit), []string{"aa\n\n" + strings.Repeat("b", 16), "bbbb"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range passagesOf(test.text, limit) {
				got = append(got, p.Content)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	long := passagesOf("# A\n"+strings.Repeat("word ", 10), limit)
	if len(long) != 3 || long[0].ID != "a.md#a" || long[1].ID != "a.md#a~2" || long[2].ID != "a.md#a~3" {
		t.Errorf("the parts of a section are called %v", long)
	}
}

func TestURIsAreRelativeReferences(t *testing.T) {
	for name, want := range map[string]string{
		"a.md":       "a.md#a-b",
		"dir/a b.md": "dir/a%20b.md#a-b",
		"x:y.md":     "./x:y.md#a-b",
		"50%.md":     "50%25.md#a-b",
		"q?.md":      "q%3F.md#a-b",
	} {
		passages, err := Load(fstest.MapFS{name: {Data: []byte("# A b\ntext")}})
		if err != nil || len(passages) != 1 {
			t.Fatal(passages, err)
		}
		if got := passages[0].URI; got != want {
			t.Errorf("URI of %q is %q, want %q", name, got, want)
		}
	}
}
