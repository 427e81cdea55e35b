package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// These rules hold for all that the demo prints, and only page prints:
//
//   - stdout tells the story from the top to the bottom, one section a question
//     the person may have; stderr gets at most one line, why it ended badly;
//   - no line is wider than [width] characters; what is cut ends in "…";
//   - what came from a provider, a product or the person is printed without
//     control and format characters, so that it cannot write to the terminal;
//   - the token is never printed;
//   - bold for headings and dim for asides, only on a terminal without NO_COLOR;
//   - the last line says that everything was stopped, and is printed only if it
//     was.

// width is the widest line, in characters.
const width = 80

// page is where the story is told.
type page struct {
	out    io.Writer
	colour bool
}

// wantsColour reports whether file is a terminal that may be coloured
// (https://no-color.org).
func wantsColour(file *os.File, lookup func(string) (string, bool)) bool {
	noColour, _ := lookup("NO_COLOR")
	terminal, _ := lookup("TERM")
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && noColour == "" && terminal != "" && terminal != "dumb"
}

// title opens the page.
func (p page) title(question string) {
	p.heading("External context, one search from end to end")
	p.line("")
	p.line("  question  " + printable(question))
	p.line("")
}

// step reports a step that is done and how long it took.
func (p page) step(name, what string, took time.Duration) {
	p.begin(name, what)
	p.done(took)
}

// begin names a step that can take long; done or broken ends its line.
func (p page) begin(name, what string) {
	fmt.Fprintf(p.out, "  %-8s  %-56s ", name, clip(printable(what), 56))
}

func (p page) done(took time.Duration) { fmt.Fprintln(p.out, duration(took)) }

func (p page) broken() { fmt.Fprintln(p.out) }

// part reports a share of the step before.
func (p page) part(what string, took time.Duration) {
	p.aside(fmt.Sprintf("  %-8s  %-56s %s", "", "  "+what, duration(took)))
}

// stopped closes the page.
func (p page) stopped(took time.Duration) {
	p.line("")
	p.line(fmt.Sprintf("Everything was stopped and removed in %s; nothing is left running.",
		strings.TrimSpace(duration(took))))
}

func (p page) section(title string) {
	p.line("")
	p.heading(title)
}

func (p page) heading(text string) { p.styled("\x1b[1m", text) }

func (p page) aside(text string) { p.styled("\x1b[2m", text) }

func (p page) styled(style, text string) {
	text = clip(text, width)
	if p.colour {
		text = style + text + "\x1b[0m"
	}
	fmt.Fprintln(p.out, text)
}

func (p page) line(text string) {
	fmt.Fprintln(p.out, strings.TrimRight(clip(text, width), " "))
}

// wrapped prints text in indented lines, at least one.
func (p page) wrapped(indent, text string) {
	line := indent
	for _, word := range strings.Fields(printable(text)) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			p.line(line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	p.line(line)
}

// folded prints text as it is but cut, at blanks where it can, into lines of the
// page's width. The lines after the first are indented a little further.
func (p page) folded(indent, text string) {
	further := indent + strings.Repeat(" ", 2+len(text)-len(strings.TrimLeft(text, " ")))
	rest := []rune(indent + text)
	for len(rest) > width {
		cut := width
		if blank := lastBlank(rest[:width]); blank > len(further) {
			cut = blank + 1
		}
		p.line(string(rest[:cut]))
		rest = append([]rune(further), rest[cut:]...)
	}
	p.line(string(rest))
}

// lastBlank returns the position of the last blank in line, or -1.
func lastBlank(line []rune) int {
	for at := len(line) - 1; at >= 0; at-- {
		if line[at] == ' ' {
			return at
		}
	}
	return -1
}

// duration returns a time in a unit that suits its size, right-aligned.
func duration(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%7.1f s", d.Seconds())
	}
	return fmt.Sprintf("%7.1f ms", float64(d.Microseconds())/1000)
}

// printable replaces what could act on a terminal, or hide there, by blanks and
// U+FFFD.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// clip shortens text to n characters.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
