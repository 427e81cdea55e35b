package mcpserver

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine is the longest frame read, in bytes. A call's longest valid query takes
// 24,000 bytes when every code point of it is escaped.
const maxLine = 1 << 20

// line is one line of input without its end. A line that is too long has no text.
type line struct {
	text    []byte
	tooLong bool
}

// readLines returns the lines of in that are not blank, and closes the channel
// when in ends. Its goroutine ends with in; where in never ends, with the process.
func readLines(in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		reader := bufio.NewReaderSize(in, 64<<10)
		for {
			next, err := readLine(reader)
			if next.tooLong || len(bytes.TrimSpace(next.text)) > 0 {
				lines <- next
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// readLine reads up to the next line feed, keeping at most maxLine bytes. The
// last line needs no line feed.
func readLine(reader *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := reader.ReadSlice('\n')
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		if len(bytes.TrimSuffix(l.text, []byte("\n"))) > maxLine {
			l = line{tooLong: true}
		}
		if err != bufio.ErrBufferFull {
			return l, err
		}
	}
}
