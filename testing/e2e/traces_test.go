package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakes"
)

// TestAConfigurationErrorTakesTheToolAwayAndSaysNothing has the client write down
// all it can: its log then has the product's one line, and no configured value.
func TestAConfigurationErrorTakesTheToolAwayAndSaysNothing(t *testing.T) {
	s := newSession(t)
	canary := fakes.Canary()
	s.config["provider"].(object)["baseUrl"] = "https://user:" + canary + "@example.com/" + canary
	s.environment["DEBUG"] = "1"
	results := s.run(search(`{"query":"x"}`))
	if tools := s.offered(); len(tools) != 0 {
		t.Errorf("offered: %v", tools)
	}
	if !strings.Contains(s.stderr.String(), "Warning: MCP server(s) failed to start: external-context.") {
		t.Errorf("stderr does not name the server: %s", s.stderr.Bytes())
	}
	const missing = `Tool "` + tool + `" not found on MCP server "external-context".`
	if len(results) != 1 || !strings.HasPrefix(results[0], missing) || s.provider.Count() != 0 {
		t.Errorf("the model was given %q after %d requests", results, s.provider.Count())
	}
	if leaks := fakes.Leaks([]string{canary, s.token}, s.stdout.Bytes(), s.stderr.Bytes()); len(leaks) > 0 {
		t.Errorf("leaked %v\nstdout: %s\nstderr: %s", leaks, s.stdout.Bytes(), s.stderr.Bytes())
	}
	if files := s.filesWith(canary, s.token); len(files) > 0 {
		t.Errorf("on disk in %q", files)
	}
	const line = "External context config: provider.baseUrl must be an origin without credentials.\n"
	if log := s.log(); strings.Count(log, line) != 1 {
		t.Errorf("Qwen Code's log has not the product's line once: %s", log)
	}
}

// log returns the log that Qwen Code writes when DEBUG is set.
func (s *session) log() string {
	s.t.Helper()
	content, err := os.ReadFile(s.path("qwen-home/debug/latest"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

// searched searches with a canary in the query and in each item of a result that is
// as long as one can be, and returns both canaries.
func searched(s *session) []string {
	s.t.Helper()
	asked, answered := fakes.Canary(), fakes.Canary()
	var items []fakes.Item
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		items = append(items, fakes.Item{ID: id, Content: answered + strings.Repeat(" <x>", 300)})
	}
	s.provider.SetItems(items...)
	results := s.run(search(query(asked)))
	if len(results) != 1 || !strings.Contains(results[0], answered) {
		s.t.Fatalf("the model was given %.300q", results)
	}
	if files := s.filesWith(s.token); len(files) > 0 {
		s.t.Errorf("the credential is on disk in %q", files)
	}
	return []string{asked, answered}
}

func TestNothingOfASearchIsOnDisk(t *testing.T) {
	s := newSession(t)
	if files := s.filesWith(searched(s)...); len(files) > 0 {
		t.Errorf("on disk in %q", files)
	}
}

// TestWhatQwenCodeIsToldToKeepItKeeps is the control of the test above, and says
// where query and result are when the settings of these tests are not used.
func TestWhatQwenCodeIsToldToKeepItKeeps(t *testing.T) {
	for _, c := range []struct {
		group   string
		members object
		below   string
	}{
		{"general", object{"enableAutoUpdate": false}, "qwen-home/projects/"}, // chat recording is on unless it is off
		{"model", object{"enableOpenAILogging": true}, "repository/logs/openai/"},
	} {
		t.Run(c.group, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.settings = with(s.settings, c.group, c.members)
			for _, canary := range searched(s) {
				files := s.filesWith(canary)
				if len(files) == 0 {
					t.Error("nothing was kept")
				}
				for _, file := range files {
					if !strings.HasPrefix(file, c.below) {
						t.Errorf("kept in %s", file)
					}
				}
			}
		})
	}
}

// filesWith returns the files below the session's directories that hold one of the
// texts or are named by one, but for those that the test itself wrote.
func (s *session) filesWith(texts ...string) []string {
	s.t.Helper()
	var found []string
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Dir(path) == s.dir {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name := strings.TrimPrefix(path, s.dir+"/")
		if len(fakes.Leaks(texts, content, []byte(name))) > 0 {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}
