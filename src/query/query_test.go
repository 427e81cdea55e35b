package query_test

import (
	"strings"
	"testing"

	"external-context.internal/appliance/src/jstext"
	"external-context.internal/appliance/src/query"
)

func TestFoldReplacesEachRunOfWhitespaceByOneSpace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing to fold", "how do we deploy", "how do we deploy"},
		{"runs inside", "a  b\t\tc\r\nd", "a b c d"},
		{"both ends", " \n a b \t ", "a b"},
		{"all kinds of space", "a\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeffb", "a b"},
		{"next line is not whitespace", "a\u0085b", "a\u0085b"},
		{"zero-width space is not whitespace", "a\u200bb", "a\u200bb"},
		{"characters stay as they are", "Ünïcode 日本語 😀 <b>&", "Ünïcode 日本語 😀 <b>&"},
		{"one character", "x", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := query.Fold(jstext.FromString(c.text))
			if err != nil || got != c.want {
				t.Errorf("Fold(%q) = %q, %v, want %q", c.text, got, err, c.want)
			}
		})
	}
}

func TestFoldRefusesByRule(t *testing.T) {
	long := strings.Repeat("😀", query.MaxCodePoints)
	for _, c := range []struct {
		name string
		text jstext.Text
		want error
	}{
		{"2000 code points", jstext.FromString(long), nil},
		{"2001 code points", jstext.FromString(long + "x"), query.ErrTooLong},
		{"2001 code points that would fold to fewer", jstext.FromString("a" + strings.Repeat(" ", 1999) + "b"), query.ErrTooLong},
		{"2000 code points that fold to fewer", jstext.FromString("a" + strings.Repeat(" ", 1998) + "b"), nil},
		{"empty", jstext.FromString(""), query.ErrEmpty},
		{"only whitespace", jstext.FromString(" \u3000\ufeff\n"), query.ErrEmpty},
		{"high surrogate alone", jstext.Text{'a', 0xD83D}, query.ErrSurrogate},
		{"low surrogate alone", jstext.Text{0xDE00, 'a'}, query.ErrSurrogate},
		{"a control character is text", jstext.Text{0}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := query.Fold(c.text); err != c.want {
				t.Errorf("Fold = %q, %v, want %v", got, err, c.want)
			}
		})
	}
}

func FuzzFoldedQueryIsFoldedAndStaysSo(f *testing.F) {
	f.Add(" a\u3000 b ")
	f.Fuzz(func(t *testing.T, text string) {
		folded, err := query.Fold(jstext.FromString(text))
		if err != nil {
			return
		}
		if folded == "" || strings.Contains(folded, "  ") || strings.TrimFunc(folded, jstext.IsSpace) != folded {
			t.Fatalf("Fold(%q) = %q", text, folded)
		}
		if again, err := query.Fold(jstext.FromString(folded)); err != nil || again != folded {
			t.Fatalf("Fold(%q) = %q, %v", folded, again, err)
		}
	})
}
