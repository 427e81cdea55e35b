package refprovider

import (
	"regexp"
	"strings"
)

// section is what stands between one heading and the next.
type section struct {
	level   int // 1 to 6; 0 for what stands before the first heading
	heading string
	lines   []line
}

// line is one line of a section. Code is kept as it is.
type line struct {
	text string
	code bool
}

// The forms of a line that decide about headings (CommonMark 4.2, 4.3, 4.5).
var (
	atxHeading   = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setextLine   = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	fenceOpening = regexp.MustCompile("^[ \t]*(```+[^`]*|~~~+.*)$")
	fenceClosing = regexp.MustCompile("^[ \t]*(```+|~~~+)[ \t]*$")
	container    = regexp.MustCompile(`^ {0,3}(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))`)
	indented     = regexp.MustCompile(`^(?: {4}| {0,3}\t)`)
)

// The two ends of an HTML comment.
const commentOpening, commentClosing = "<!--", "-->"

// splitSections cuts a Markdown text at its headings, underlined ones included. A
// "#" in fenced code or in an HTML comment is no heading. Front matter and comment
// blocks are left out. Headings inside lists and quotes are text.
//
// Unlike CommonMark, a fence may be indented by any amount, because runbooks put
// code under list items.
func splitSections(text string) []section {
	s := splitter{sections: []section{{}}}
	for _, line := range body(text) {
		s.add(line)
	}
	return s.sections
}

// body returns the lines of a text without byte-order mark and front matter, line
// ends unified and invalid bytes replaced.
func body(text string) []string {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return lines
	}
	for i, line := range lines[1:] {
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return lines[i+2:]
		}
	}
	return lines // never closed: a rule across the page, not front matter
}

// splitter is one pass over a document's lines.
type splitter struct {
	sections  []section
	fence     string // the open fence's characters, or ""
	comment   bool   // inside an HTML comment block
	paragraph int    // lines of the open paragraph; 0 if none is open
	contained bool   // inside a list item or a quote, until a blank line
}

func (s *splitter) add(text string) {
	switch {
	case s.fence != "":
		s.addFenced(text)
	case s.comment:
		s.comment = !strings.Contains(text, commentClosing)
	case fenceOpening.MatchString(text):
		s.fence = fenceRun(text)
		s.paragraph = 0
	case strings.HasPrefix(strings.TrimLeft(text, " "), commentOpening):
		s.comment = !strings.Contains(text, commentClosing)
		s.paragraph = 0
	default:
		s.addText(text)
	}
}

// fenceRun returns the fence characters that a fence line begins with.
func fenceRun(text string) string {
	text = strings.TrimLeft(text, " \t")
	return text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
}

// addFenced adds a line of fenced code, or closes the fence.
func (s *splitter) addFenced(text string) {
	if fenceClosing.MatchString(text) && strings.HasPrefix(fenceRun(text), s.fence) {
		s.fence = ""
		return
	}
	s.append(line{text: text, code: true})
}

// addText adds a line outside fences and comments, or turns it into a heading.
func (s *splitter) addText(text string) {
	if m := atxHeading.FindStringSubmatch(text); m != nil {
		s.open(len(m[1]), m[2])
		return
	}
	if m := setextLine.FindStringSubmatch(text); m != nil && s.paragraph > 0 {
		level := 1
		if m[1][0] == '-' {
			level = 2
		}
		s.open(level, s.takeParagraph())
		return
	}
	s.append(line{text: text, code: s.paragraph == 0 && !s.contained && indented.MatchString(text)})
	s.track(text)
}

// track keeps whether the next line could underline a heading.
func (s *splitter) track(text string) {
	switch {
	case strings.TrimSpace(text) == "":
		s.paragraph, s.contained = 0, false
	case container.MatchString(text):
		s.paragraph, s.contained = 0, true
	case !s.contained && (s.paragraph > 0 || !indented.MatchString(text)):
		s.paragraph++
	}
}

// takeParagraph removes the open paragraph's lines and returns them as one line.
func (s *splitter) takeParagraph() string {
	current := s.current()
	start := len(current.lines) - s.paragraph
	var words []string
	for _, line := range current.lines[start:] {
		words = append(words, strings.TrimSpace(line.text))
	}
	current.lines = current.lines[:start]
	return strings.Join(words, " ")
}

func (s *splitter) open(level int, heading string) {
	s.sections = append(s.sections, section{level: level, heading: inline(strings.TrimSpace(heading))})
	s.paragraph, s.contained = 0, false
}

func (s *splitter) append(l line) {
	current := s.current()
	current.lines = append(current.lines, l)
}

func (s *splitter) current() *section { return &s.sections[len(s.sections)-1] }
