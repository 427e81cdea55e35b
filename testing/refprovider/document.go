package refprovider

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
)

// trailSeparator stands between the headings of a title.
const trailSeparator = " › "

// topSlug names what stands before a file's first heading; in HTML the fragment
// "top" is the top of a page.
const topSlug = "top"

// document is one Markdown file.
type document struct {
	name      string
	text      string
	updatedAt time.Time
}

// passages cuts the document into passages of at most limit code points. A
// section without text of its own gives none; its heading lives on in the titles
// of the sections below it.
func (d document) passages(limit int) []Passage {
	slugs := slugger{topSlug: 0}
	var trail trail
	var passages []Passage
	for _, section := range splitSections(d.text) {
		slug := topSlug
		if section.level > 0 {
			slug = slugs.next(section.heading)
			trail.enter(section.level, section.heading)
		}
		heading, title := d.titles(trail)
		for i, content := range bound(plain(section.lines), limit) {
			id := d.name + "#" + slug
			if i > 0 {
				id += fmt.Sprintf("~%d", i+1)
			}
			passages = append(passages, Passage{
				ID: id, Title: title, Content: content, URI: reference(d.name, slug),
				UpdatedAt: d.updatedAt, heading: heading,
			})
		}
	}
	return passages
}

// titles returns the section's own heading and its whole title. A section without
// any heading is called by its file's name.
func (d document) titles(t trail) (heading, title string) {
	names := t.headings()
	if len(names) == 0 {
		names = []string{strings.TrimSuffix(path.Base(d.name), path.Ext(d.name))}
	}
	return names[len(names)-1], strings.Join(names, trailSeparator)
}

// reference returns a relative URI reference to a section of a file.
func reference(name, slug string) string {
	return (&url.URL{Path: name, Fragment: slug}).String()
}

// trail is the open heading of each level, the first at index 0.
type trail [6]string

// enter opens a heading and closes those of its level and below.
func (t *trail) enter(level int, heading string) {
	clear(t[level-1:])
	t[level-1] = heading
}

// headings returns the open headings from the top.
func (t trail) headings() []string {
	var open []string
	for _, heading := range t {
		if heading != "" {
			open = append(open, heading)
		}
	}
	return open
}

// slugger holds the slugs a document has used, and for each the last number that
// was added to it.
type slugger map[string]int

// next returns the heading's slug as code hosting sites make it: lower case,
// blanks as hyphens, only letters, digits, "-" and "_"; a number makes a repeated
// one unique.
func (s slugger) next(heading string) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	if base == "" {
		base = "section"
	}
	slug := base
	for _, used := s[slug]; used; _, used = s[slug] {
		s[base]++
		slug = fmt.Sprintf("%s-%d", base, s[base])
	}
	s[slug] = 0
	return slug
}

// bound cuts text into parts of at most limit code points: between paragraphs if
// it can, else between lines, else between words, else anywhere. Empty text has
// no part.
func bound(text string, limit int) []string {
	var parts []string
	for text != "" {
		head := prefix(text, limit)
		if len(head) < len(text) {
			head = head[:cut(head)]
		}
		if part := strings.TrimSpace(head); part != "" {
			parts = append(parts, part)
		}
		text = strings.TrimSpace(text[len(head):])
	}
	return parts
}

// prefix returns the first n code points of text.
func prefix(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// cut returns where to end a part that is followed by more: at the best boundary
// in its second half, so that no part is needlessly short.
func cut(head string) int {
	for _, boundary := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(head, boundary); at > len(head)/2 {
			return at
		}
	}
	return len(head)
}
