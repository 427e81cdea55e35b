// Package refprovider is a small search service for people who have none: it
// serves Generic HTTP Search V1 (contract section 4) over a folder of Markdown
// files, on loopback only.
//
// It owns reading the folder, cutting files into passages, the index over them,
// and the HTTP service. It refuses to know who asks: it has no part in the
// product, keeps no record of queries, and writes no file.
package refprovider

import "time"

// What a folder may hold. A folder beyond a limit is refused as a whole, so that
// nobody searches half of it unknowingly.
const (
	// MaxEntries is the largest number of files and directories looked at.
	MaxEntries = 50_000
	// MaxFiles is the largest number of Markdown files.
	MaxFiles = 5_000
	// MaxFileBytes is the largest Markdown file, in bytes.
	MaxFileBytes = 1 << 20
	// MaxTotalBytes is the largest size of all Markdown files together, in bytes.
	MaxTotalBytes = 32 << 20
	// MaxPassage is the largest passage, in code points. It is what the envelope
	// keeps of an item's content (contract section 5), so nothing a passage says
	// is lost there to its own length.
	MaxPassage = 1000
)

// Passage is what a search finds: one section of one file, or a part of a section
// longer than [MaxPassage].
type Passage struct {
	// ID is the file's path in the folder, "#" and the section's slug; from the
	// second part of a long section on, also "~" and the part's number.
	ID string
	// Title is the trail of headings from the top of the file to the section.
	Title string
	// Content is the section's text without Markdown's marks.
	Content string
	// URI is the file's path in the folder with the section as fragment, as a
	// relative URI reference.
	URI string
	// UpdatedAt is when the file was last changed; zero if the file system does
	// not say.
	UpdatedAt time.Time

	// heading is the section's own heading, the last of the trail.
	heading string
}
