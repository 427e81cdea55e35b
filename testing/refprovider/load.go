package refprovider

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// limits bounds what load reads.
type limits struct {
	entries, files      int
	fileBytes, allBytes int64
	passageCodePoints   int
}

// LoadFolder reads the Markdown files of the folder dir as [Load] does. Nothing
// outside the folder can be reached, also while its entries change.
func LoadFolder(dir string) ([]Passage, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the folder cannot be opened: %w", err)
	}
	defer root.Close()
	return Load(root.FS())
}

// Load reads the Markdown files (.md, .markdown) of fsys and returns their
// passages, by path and then in file order. Hidden files and directories are
// skipped, and so is every symbolic link, wherever it points. An error names the
// file by its path in fsys and says which limit it breaks.
func Load(fsys fs.FS) ([]Passage, error) {
	return load(fsys, limits{MaxEntries, MaxFiles, MaxFileBytes, MaxTotalBytes, MaxPassage})
}

func load(fsys fs.FS, limit limits) ([]Passage, error) {
	l := loader{fsys: fsys, limit: limit}
	if err := fs.WalkDir(fsys, ".", l.visit); err != nil {
		return nil, err
	}
	return l.passages, nil
}

// loader is one walk over a folder.
type loader struct {
	fsys     fs.FS
	limit    limits
	entries  int
	files    int
	bytes    int64
	passages []Passage
}

func (l *loader) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if name == "." {
		return nil
	}
	if l.entries++; l.entries > l.limit.entries {
		return fmt.Errorf("the folder has more than %d entries: choose a smaller folder", l.limit.entries)
	}
	hidden := strings.HasPrefix(path.Base(name), ".")
	switch {
	case entry.IsDir() && hidden:
		return fs.SkipDir
	case hidden || !entry.Type().IsRegular() || !isMarkdown(name):
		return nil
	}
	if l.files++; l.files > l.limit.files {
		return fmt.Errorf("the folder has more than %d Markdown files: choose a smaller folder", l.limit.files)
	}
	return l.read(name)
}

func isMarkdown(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	return extension == ".md" || extension == ".markdown"
}

// read adds the passages of one file. It checks the file it opened, not the name.
func (l *loader) read(name string) error {
	file, err := l.fsys.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(file, l.limit.fileBytes+1))
	if err != nil {
		return err
	}
	if int64(len(data)) > l.limit.fileBytes {
		return fmt.Errorf("%s is larger than %d bytes: split it or move it out of the folder", name, l.limit.fileBytes)
	}
	if l.bytes += int64(len(data)); l.bytes > l.limit.allBytes {
		return fmt.Errorf("the Markdown files are larger than %d bytes together: choose a smaller folder", l.limit.allBytes)
	}
	document := document{name: name, text: string(data), updatedAt: info.ModTime()}
	l.passages = append(l.passages, document.passages(l.limit.passageCodePoints)...)
	return nil
}
