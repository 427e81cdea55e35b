package house

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/need"
	"github.com/google/go-cmp/cmp"
)

// host finds the host at the beginning of an address, with or without a scheme.
var host = regexp.MustCompile(`^(?:https?://)?([a-z0-9.-]*\.[a-z]{2,})`)

// hosts returns the hosts of the addresses, sorted, each once. What is no address,
// such as "direct" and "off", has none.
func hosts(addresses []string) []string {
	var found []string
	for _, address := range addresses {
		if m := host.FindStringSubmatch(address); m != nil {
			found = append(found, m[1])
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestHostsOfAddresses(t *testing.T) {
	got := hosts([]string{"https://b.example.test/debian", "a.example.test", "direct", "off", "", "file:///x/y", "http://a.example.test:8080"})
	if diff := cmp.Diff([]string{"a.example.test", "b.example.test"}, got); diff != "" {
		t.Error(diff)
	}
}

// registries returns the addresses of the package registries that this machine is
// set up for: of Go modules, of npm packages and of Debian's.
func registries(t *testing.T) []string {
	t.Helper()
	var addresses []string
	split := func(c rune) bool { return strings.ContainsRune(",| \t\n", c) }
	for _, command := range [][]string{{"go", "env", "GOPROXY", "GOSUMDB"}, {"npm", "config", "get", "registry"}} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = filepath.Join(need.Root(t), "testing", "node")
		if out, err := cmd.Output(); err == nil { // a machine without npm has no registry of it
			addresses = append(addresses, strings.FieldsFunc(string(out), split)...)
		}
	}
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if content, err := os.ReadFile(name); err == nil {
				addresses = append(addresses, debianSources(string(content))...)
			}
		}
	}
	return addresses
}

// debianSources returns the addresses in a file of APT sources, in either of its
// two formats.
func debianSources(content string) []string {
	var addresses []string
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch fields[0] {
		case "URIs:":
			addresses = append(addresses, fields[1:]...)
		case "deb", "deb-src":
			for _, field := range fields[1:] {
				if strings.Contains(field, "://") {
					addresses = append(addresses, field)
				}
			}
		}
	}
	return addresses
}

func TestDebianSourcesAreReadInBothFormats(t *testing.T) {
	got := debianSources("# URIs: http://no.example.test\nTypes: deb\nURIs: http://a.example.test/debian http://b.example.test\n\n" +
		"deb [arch=amd64] http://c.example.test/debian stable main\ndeb-src http://d.example.test x y\n# deb http://no.example.test x\n")
	want := []string{"http://a.example.test/debian", "http://b.example.test", "http://c.example.test/debian", "http://d.example.test"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// holdsNone is the rule that none of the words stands in a file.
func holdsNone(words []string, why string) func(file) []string {
	return func(f file) []string {
		var findings []string
		for _, word := range words {
			if at := bytes.Index(f.content, []byte(word)); at >= 0 {
				line := 1 + bytes.Count(f.content[:at], []byte("\n"))
				findings = append(findings, fmt.Sprintf("line %d holds %s: %s", line, word, why))
			}
		}
		return findings
	}
}

func TestAWordThatMayNotStandThereIsFoundWithItsLine(t *testing.T) {
	rule := holdsNone([]string{"r.example.test"}, "no")
	if got := rule(file{"f", []byte("one\nhttps://r.example.test/x\n")}); !slices.Equal(got, []string{"line 2 holds r.example.test: no"}) {
		t.Errorf("got %q", got)
	}
	if got := rule(file{"f", []byte("one\nexample.test\n")}); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestNoFileNamesAPackageRegistry(t *testing.T) {
	words := hosts(registries(t))
	if len(words) == 0 {
		t.Skip(need.SkipPrefix + "needs a package registry's host: set GOPROXY")
	}
	sweep(t, tree(t), holdsNone(words, "read a registry's host from the machine's settings"))
}

func TestNoFileHoldsThePathOfTheCheckout(t *testing.T) {
	root := need.Root(t)
	if strings.Count(filepath.ToSlash(root), "/") < 2 {
		t.Skip(need.SkipPrefix + "needs a checkout whose path is no ordinary word: clone into a folder of a folder")
	}
	sweep(t, tree(t), func(f file) []string {
		return holdsNone([]string{root}, "find the root from the file's own place")(file{f.path, whole(f.content, root)})
	})
}

// whole keeps of content only the lines in which path stands as a whole path and
// not as the beginning of a longer name; the others are left empty.
func whole(content []byte, path string) []byte {
	standing := regexp.MustCompile(`(^|[^A-Za-z0-9._-])` + regexp.QuoteMeta(path) + `($|[^A-Za-z0-9_-])`)
	lines := bytes.Split(content, []byte("\n"))
	for i, line := range lines {
		if !standing.Match(line) {
			lines[i] = nil
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func TestAPathIsFoundWholeOnly(t *testing.T) {
	for line, found := range map[string]bool{
		"cd /srv/app":        true,
		`"/srv/app/src"`:     true,
		"/srv/app":           true,
		"it is /srv/app.":    true,
		"/srv/application":   false,
		"example.com/srv/ap": false,
		"x/srv/app":          false,
	} {
		if got := len(whole([]byte(line), "/srv/app")) > 0; got != found {
			t.Errorf("%q: found %v, want %v", line, got, found)
		}
	}
}
