// Package jstext is text as JavaScript sees it: Unicode code points among which
// an unpaired surrogate may stand, counted in code points or UTF-16 code units.
//
// The product's limits and its output are defined in JavaScript's terms, and
// both JSON and JavaScript can carry an unpaired surrogate where a Go string
// cannot. This package owns reading such text from a JSON string literal,
// counting it, and writing it as JSON.stringify does. It knows nothing about
// queries, providers or the protocol, and bounds nothing.
package jstext

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a sequence of Unicode code points. A surrogate (U+D800 to U+DFFF) in
// it is unpaired in the text it came from. The length of the slice is the
// length in code points.
type Text []rune

// ErrNotString reports bytes that are not one JSON string literal.
var ErrNotString = errors.New("not a JSON string literal")

// FromString returns the code points of s. Bytes that are not UTF-8 become
// U+FFFD, one for each.
func FromString(s string) Text { return Text(s) }

// Unquote decodes one JSON string literal, quotes included, as JSON.parse does:
// an escaped surrogate pair is one code point, an unpaired surrogate stays.
// Anything that is not exactly one literal in valid UTF-8 is [ErrNotString].
func Unquote(literal []byte) (Text, error) {
	if len(literal) < 2 || literal[0] != '"' || literal[len(literal)-1] != '"' {
		return nil, ErrNotString
	}
	body := literal[1 : len(literal)-1]
	text := make(Text, 0, len(body))
	for len(body) > 0 {
		switch c := body[0]; {
		case c == '"' || c < 0x20:
			return nil, ErrNotString
		case c == '\\':
			r, size, ok := unescape(body)
			if !ok {
				return nil, ErrNotString
			}
			text, body = appendUnit(text, r), body[size:]
		default:
			r, size := utf8.DecodeRune(body)
			if r == utf8.RuneError && size == 1 {
				return nil, ErrNotString
			}
			text, body = append(text, r), body[size:]
		}
	}
	return text, nil
}

// appendUnit appends r, joining it with a high surrogate before it. Only
// escapes can yield surrogates, so a raw character never joins.
func appendUnit(text Text, r rune) Text {
	if n := len(text); n > 0 {
		if joined := utf16.DecodeRune(text[n-1], r); joined != utf8.RuneError {
			text[n-1] = joined
			return text
		}
	}
	return append(text, r)
}

// unescape decodes the escape at the start of b and returns the code unit it
// stands for and its length in bytes.
func unescape(b []byte) (r rune, size int, ok bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2, true
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
		return unhex(b)
	}
	return 0, 0, false
}

// unhex decodes \uXXXX at the start of b.
func unhex(b []byte) (r rune, size int, ok bool) {
	const length = len(`\uXXXX`)
	if len(b) < length {
		return 0, 0, false
	}
	for _, c := range b[2:length] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, 0, false
		}
	}
	return r, length, true
}

// WellFormed reports that no unpaired surrogate stands in the text, so that
// String loses nothing.
func (t Text) WellFormed() bool {
	for _, r := range t {
		if utf16.IsSurrogate(r) {
			return false
		}
	}
	return true
}

// String returns the text in UTF-8. An unpaired surrogate becomes U+FFFD.
func (t Text) String() string { return string(t) }

// AppendQuoted appends the text as JSON.stringify writes it: two-character
// escapes where JSON has them, \u00xx for other control characters, \udxxx for
// unpaired surrogates, everything else as it is.
func AppendQuoted(dst []byte, t Text) []byte {
	dst = append(dst, '"')
	for _, r := range t {
		dst = appendCodePoint(dst, r)
	}
	return append(dst, '"')
}

func appendCodePoint(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\b':
		return append(dst, `\b`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\f':
		return append(dst, `\f`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r < 0x20 || utf16.IsSurrogate(r):
		return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// Units counts the UTF-16 code units of UTF-8 text, as JavaScript's
// string.length does. Bytes that are not UTF-8 count as one each.
func Units(b []byte) int {
	units := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		units += utf16.RuneLen(r)
		b = b[size:]
	}
	return units
}

// IsSpace reports what JavaScript's regular expression class \s matches: the
// contract's "whitespace". unicode.IsSpace is a different set: it has U+0085
// and lacks U+FEFF.
func IsSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xA0, r == 0x1680,
		r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029,
		r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return false
}
