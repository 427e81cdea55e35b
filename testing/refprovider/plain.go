package refprovider

import (
	"regexp"
	"strings"
)

// inlineWindow is how far, in bytes, the end of an inline mark is looked for. It
// keeps the work linear in the length of a line.
const inlineWindow = 1000

// punctuation is what a backslash can escape.
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// Lines and parts of lines that carry no text.
var (
	ruleLine  = regexp.MustCompile(`^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	tableRule = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$`)
	quoteMark = regexp.MustCompile(`^ {0,3}(?:> ?)+`)
	comment   = regexp.MustCompile(`<!--.*?-->`)
)

// plain returns the text of lines without Markdown's marks. HTML is text like any
// other: whoever shows it must escape it.
func plain(lines []line) string {
	var out strings.Builder
	blanks := 0
	for _, l := range lines {
		text := strings.TrimRight(l.text, " \t")
		if !l.code {
			text = strings.TrimRight(plainLine(text), " \t")
		}
		if text == "" {
			blanks++
			continue
		}
		if out.Len() > 0 {
			out.WriteString(strings.Repeat("\n", 1+min(blanks, 1)))
		}
		blanks = 0
		out.WriteString(text)
	}
	return strings.TrimSpace(out.String())
}

func plainLine(text string) string {
	if ruleLine.MatchString(text) || tableRule.MatchString(text) {
		return ""
	}
	return inline(comment.ReplaceAllString(quoteMark.ReplaceAllString(text, ""), ""))
}

// inline removes the marks within a line: emphasis, strike-through, code spans,
// backslash escapes, and links and images but for their text. A mark without its
// other end is text.
func inline(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		shown, size := mark(text, at)
		if size == 0 {
			shown, size = text[at:at+1], 1
		}
		out.WriteString(shown)
		at += size
	}
	return out.String()
}

// mark returns what the inline mark at text[at:] shows and how many bytes it
// takes; 0 if none begins there.
func mark(text string, at int) (shown string, size int) {
	rest := text[at:]
	switch c := rest[0]; c {
	case '\\':
		if len(rest) > 1 && strings.IndexByte(punctuation, rest[1]) >= 0 {
			return rest[1:2], 2
		}
	case '`':
		return codeSpan(rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			shown, size = link(rest[1:])
			return shown, size + min(size, 1)
		}
	case '[':
		return link(rest)
	case '*', '_', '~':
		return emphasis(text, at)
	}
	return "", 0
}

// run returns the run of one byte that text begins with.
func run(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
}

func codeSpan(text string) (string, int) {
	ticks := run(text)
	rest := window(text[len(ticks):])
	for at := 0; at < len(rest); {
		next := strings.IndexByte(rest[at:], '`')
		if next < 0 {
			break
		}
		at += next
		closing := run(rest[at:])
		if closing == ticks {
			return strings.TrimSpace(rest[:at]), at + 2*len(ticks)
		}
		at += len(closing)
	}
	return ticks, len(ticks)
}

// link reads [text](target) and shows the text.
func link(text string) (string, int) {
	within := window(text)
	depth := 0
	for at := 0; at < len(within); at++ {
		switch within[at] {
		case '\\':
			at++
		case '[':
			depth++
		case ']':
			if depth--; depth > 0 {
				continue
			}
			target := within[at+1:]
			end := strings.IndexByte(target, ')')
			if !strings.HasPrefix(target, "(") || end < 0 {
				return "", 0
			}
			return inline(within[1:at]), at + 1 + end + 1
		}
	}
	return "", 0
}

// emphasis reads text between two equal runs of *, _ or ~~. Underscores inside a
// word belong to the word, as in names of code.
func emphasis(text string, at int) (string, int) {
	delimiter := run(text[at:])
	rest := text[at+len(delimiter):]
	if rest == "" || rest[0] == ' ' || len(delimiter) > 3 || (delimiter[0] == '~' && len(delimiter) != 2) {
		return delimiter, len(delimiter)
	}
	if delimiter[0] == '_' && at > 0 && isWord(text[at-1]) {
		return delimiter, len(delimiter)
	}
	within := window(rest)
	for from := 1; from < len(within); {
		next := strings.Index(within[from:], delimiter)
		if next < 0 {
			break
		}
		end := from + next
		after := end + len(run(within[end:]))
		closes := after-end == len(delimiter) && within[end-1] != ' ' && within[end-1] != '\\'
		if closes && (delimiter[0] != '_' || after == len(within) || !isWord(within[after])) {
			return inline(within[:end]), after + len(delimiter)
		}
		from = after
	}
	return delimiter, len(delimiter)
}

func window(text string) string { return text[:min(len(text), inlineWindow)] }

// isWord reports whether a byte can be part of a word; every byte of a character
// beyond ASCII counts as one.
func isWord(c byte) bool {
	return c >= 0x80 || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
