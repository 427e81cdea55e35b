package refprovider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ids(passages []Passage) []string {
	var all []string
	for _, p := range passages {
		all = append(all, p.ID)
	}
	return all
}

// writeFile writes a file and the directories above it.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyVisibleMarkdownIsRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.md", "a/c.MD", "d.markdown", "e.txt", "README", ".hidden.md", ".git/x.md", "a/.cache/y.md"} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), "text")
	}
	passages, err := LoadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/c.MD#top", "b.md#top", "d.markdown#top"}, ids(passages)); diff != "" {
		t.Error(diff)
	}
}

func TestNoSymbolicLinkIsFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "secret.md"), "outside")
	writeFile(t, filepath.Join(dir, "real.md"), "inside")
	for link, target := range map[string]string{
		"file.md":   filepath.Join(outside, "secret.md"),
		"folder":    outside,
		"within.md": "real.md",
		"broken.md": "nowhere.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	passages, err := LoadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"real.md#top"}, ids(passages)); diff != "" {
		t.Error(diff)
	}
}

func TestTheChangeTimeIsTheFiles(t *testing.T) {
	dir := t.TempDir()
	changed := time.Date(2025, 11, 28, 9, 4, 0, 0, time.UTC)
	writeFile(t, filepath.Join(dir, "a.md"), "text")
	if err := os.Chtimes(filepath.Join(dir, "a.md"), changed, changed); err != nil {
		t.Fatal(err)
	}
	passages, err := LoadFolder(dir)
	if err != nil || len(passages) != 1 {
		t.Fatal(passages, err)
	}
	if !passages[0].UpdatedAt.Equal(changed) {
		t.Errorf("UpdatedAt = %v, want %v", passages[0].UpdatedAt, changed)
	}
}

func TestEachLimitHoldsOnBothSides(t *testing.T) {
	roomy := limits{entries: 100, files: 100, fileBytes: 100, allBytes: 100, passageCodePoints: 100}
	files := func(sizes ...int) fstest.MapFS {
		folder := fstest.MapFS{}
		for i, size := range sizes {
			folder[string(rune('a'+i))+".md"] = &fstest.MapFile{Data: []byte(strings.Repeat("x", size))}
		}
		return folder
	}
	for name, test := range map[string]struct {
		tighten   func(*limits)
		fits, not fstest.MapFS
		want      string
	}{
		"entries": {func(l *limits) { l.entries = 2 }, files(1, 1), files(1, 1, 1), "more than 2 entries"},
		"files":   {func(l *limits) { l.files = 2 }, files(1, 1), files(1, 1, 1), "more than 2 Markdown files"},
		"one file's bytes": {func(l *limits) { l.fileBytes = 10 }, files(10, 10), files(10, 11),
			"b.md is larger than 10 bytes"},
		"all bytes": {func(l *limits) { l.allBytes = 20 }, files(10, 10), files(10, 11), "larger than 20 bytes together"},
	} {
		t.Run(name, func(t *testing.T) {
			limit := roomy
			test.tighten(&limit)
			if _, err := load(test.fits, limit); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			_, err := load(test.not, limit)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("beyond the limit: %v, want %q", err, test.want)
			}
		})
	}
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.md")
	writeFile(t, file, "text")
	for _, dir := range []string{file, file + "-not-there"} {
		if _, err := LoadFolder(dir); err == nil {
			t.Errorf("LoadFolder accepted %s", filepath.Base(dir))
		}
	}
}
