// Package house holds the tree to the rules that no compiler knows: what may stand
// in a file of this repository, and how source is written. It reads the tree as git
// would commit it and knows nothing of what the product does.
package house

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/need"
)

// file is one file of the tree, by its slash-separated path below the root.
type file struct {
	path    string
	content []byte
}

// tree returns the text files that git tracks, and those it would if they were
// added now.
func tree(t *testing.T) []file {
	t.Helper()
	root := need.Root(t)
	git := need.Tool(t, "git", "install git")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip(need.SkipPrefix + "needs a git checkout: clone the repository")
	}
	cmd := exec.CommandContext(t.Context(), git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	listed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	for path := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		if f, ok := readText(t, root, path); ok {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatal("git lists no text file")
	}
	return files
}

// readText reads one regular file; a file that was deleted, a link and a file that
// is not text are left out.
func readText(t *testing.T, root, path string) (file, bool) {
	t.Helper()
	name := filepath.Join(root, filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return file{}, false
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return file{path, content}, bytes.IndexByte(content, 0) < 0
}

// source returns the Go files of the tree below one of the folders that are not
// tests.
func source(t *testing.T, folders ...string) []file {
	t.Helper()
	var files []file
	for _, f := range tree(t) {
		for _, folder := range folders {
			if strings.HasPrefix(f.path, folder) && strings.HasSuffix(f.path, ".go") && !strings.HasSuffix(f.path, "_test.go") {
				files = append(files, f)
			}
		}
	}
	if len(files) == 0 {
		t.Fatalf("no Go file below %q", folders)
	}
	return files
}

// sweep reports what a rule finds in each of the files.
func sweep(t *testing.T, files []file, rule func(file) []string) {
	t.Helper()
	for _, f := range files {
		for _, finding := range rule(f) {
			t.Errorf("%s: %s", f.path, finding)
		}
	}
}
