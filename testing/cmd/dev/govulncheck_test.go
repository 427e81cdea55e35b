package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/need"
)

// vulnerability is a report that nobody has written: os.Getwd is vulnerable in all
// versions of Go's library before one.
const vulnerability = `{"schema_version":"1.3.1","id":"GO-2999-0001","modified":"2999-01-01T00:00:00Z","published":"2999-01-01T00:00:00Z",
"summary":"A working directory","details":"A working directory","affected":[{"package":{"name":"stdlib","ecosystem":"Go"},
"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":%q}]}],
"ecosystem_specific":{"imports":[{"path":"os","symbols":["Getwd"]}]}}],
"database_specific":{"url":"https://vulnerabilities.example.test/GO-2999-0001","review_status":"REVIEWED"}}`

// TestGovulncheckFindsWhatItsDatabaseHolds shows that the check can fail: with a
// database made the way that the pinned one is, over a program of a few lines.
func TestGovulncheckFindsWhatItsDatabaseHolds(t *testing.T) {
	t.Chdir(need.Root(t))
	for _, c := range []struct {
		name, fixed, body string
		found             bool
	}{
		{"a vulnerable function is called", "999.0.0", "os.Getwd()", true},
		{"another function is called", "999.0.0", "os.Getpid()", false},
		{"the library is newer", "1.0.0", "os.Getwd()", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var shown bytes.Buffer
			b := &bench{stdout: &shown, stderr: &shown}
			for _, name := range []string{"govulncheck", "indexdb"} {
				if err := b.need(t.Context(), name); err != nil {
					if os.Getenv("CI") == "true" {
						t.Fatal(err)
					}
					t.Skip(need.SkipPrefix + err.Error())
				}
			}
			directory := t.TempDir()
			reports, program, database := filepath.Join(directory, "reports"), filepath.Join(directory, "program"), filepath.Join(directory, "db")
			write(t, filepath.Join(reports, "GO-2999-0001.json"), fmt.Sprintf(vulnerability, c.fixed))
			write(t, filepath.Join(program, "go.mod"), "module program.example.test\n\ngo 1.26.0\n")
			write(t, filepath.Join(program, "main.go"), "package main\n\nimport \"os\"\n\nfunc main() { "+c.body+" }\n")
			if err := b.index(t.Context(), reports, database); err != nil {
				t.Fatalf("%v: %s", err, shown.String())
			}
			err := b.show(t.Context(), "go", "tool", toolsModule, "govulncheck", "-C", program, "-db", "file://"+database, "./...")
			var exit *exec.ExitError
			if found := errors.As(err, &exit); found != c.found || err != nil && !found || found && !strings.Contains(shown.String(), "GO-2999-0001") {
				t.Errorf("got %v, want found %v: %s", err, c.found, shown.String())
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}
