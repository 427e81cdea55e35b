package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/testing/fakes"
)

const (
	lineAbsolute   = "QWEN_EXTERNAL_CONTEXT_CONFIG must name an absolute file path."
	lineUnreadable = "External context config could not be read."
	lineNotJSON    = "External context config is not valid JSON."
	lineCredential = "Configured external context credential is unavailable."
	lineVersion1   = "External context MCP requires a version 1 configuration."
)

const version1 = `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://context.example.com","tokenEnv":"TOKEN"}}`

// environment is a whole environment.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	value, set := e[name]
	return value, set
}

// write puts content in a new file with mode and returns its path.
func write(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func padded(size int) string { return version1 + strings.Repeat(" ", size-len(version1)) }

func TestConfigFileRules(t *testing.T) {
	directory := t.TempDir()
	fifo := filepath.Join(directory, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(directory, "link")
	if err := os.Symlink(write(t, version1, 0o644), link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(write(t, version1, 0o644)))
	for _, c := range []struct {
		name, path, want string
	}{
		{"a regular file", write(t, version1, 0o644), ""},
		{"a file only its owner reads", write(t, version1, 0o600), ""},
		{"a link to a regular file", link, ""},
		{"a file its group writes", write(t, version1, 0o664), ""},
		{"a file everybody writes", write(t, version1, 0o646), "External context config: file must not be writable by others."},
		{"65536 bytes", write(t, padded(65536), 0o644), ""},
		{"65537 bytes", write(t, padded(65537), 0o644), "External context config: file must be at most 65536 bytes."},
		{"an empty path", "", lineAbsolute},
		{"a relative path", "file", lineAbsolute},
		{"a missing file", filepath.Join(directory, "missing"), lineUnreadable},
		{"a path through a file", filepath.Join(link, "file"), lineUnreadable},
		{"a directory", directory, lineUnreadable},
		{"a pipe that nobody writes to", fifo, lineUnreadable},
		{"a device", os.DevNull, lineUnreadable},
		{"a path with a NUL", "/a\x00b", lineUnreadable},
		{"an empty file", write(t, "", 0o644), lineNotJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(environment{config.Variable: c.path, "TOKEN": "fake"}.lookup)
			expect(t, err, c.want)
		})
	}
	t.Run("the variable is not set", func(t *testing.T) {
		_, err := config.Load(environment{"TOKEN": "fake"}.lookup)
		expect(t, err, lineAbsolute)
	})
}

func TestCredentialRules(t *testing.T) {
	secret := fakes.Canary()
	file := func(content string) string { return write(t, content, 0o600) }
	for _, c := range []struct {
		name  string
		extra environment
		want  string // the credential, or "" for the credential's line
	}{
		{"from the environment", environment{"TOKEN": secret}, secret},
		{"from a file", environment{"TOKEN_FILE": file(secret)}, secret},
		{"one trailing line feed is removed", environment{"TOKEN_FILE": file(secret + "\n")}, secret},
		{"blanks inside and around stay", environment{"TOKEN": " " + secret + " x "}, " " + secret + " x "},
		{"8192 bytes in a file", environment{"TOKEN_FILE": file(strings.Repeat("k", 8191) + "\n")}, strings.Repeat("k", 8191)},
		{"8193 bytes in a file", environment{"TOKEN_FILE": file(strings.Repeat("k", 8192) + "\n")}, ""},
		{"a second line feed", environment{"TOKEN_FILE": file(secret + "\n\n")}, ""},
		{"a carriage return", environment{"TOKEN_FILE": file(secret + "\r\n")}, ""},
		{"a tab", environment{"TOKEN": secret + "\t"}, ""},
		{"a C1 control", environment{"TOKEN": secret + "\u0085"}, ""},
		{"delete", environment{"TOKEN": secret + "\x7f"}, ""},
		{"invalid UTF-8", environment{"TOKEN": secret + "\xff"}, ""},
		{"neither set", environment{}, ""},
		{"both set", environment{"TOKEN": secret, "TOKEN_FILE": file(secret)}, ""},
		{"both set, the variable empty", environment{"TOKEN": "", "TOKEN_FILE": file(secret)}, ""},
		{"empty variable", environment{"TOKEN": ""}, ""},
		{"blank variable", environment{"TOKEN": "  "}, ""},
		{"empty file", environment{"TOKEN_FILE": file("")}, ""},
		{"a file with a line feed only", environment{"TOKEN_FILE": file("\n")}, ""},
		{"empty path", environment{"TOKEN_FILE": ""}, ""},
		{"relative path", environment{"TOKEN_FILE": "token"}, ""},
		{"missing file", environment{"TOKEN_FILE": file(secret) + "-missing"}, ""},
		{"directory", environment{"TOKEN_FILE": t.TempDir()}, ""},
		{"a file everybody writes", environment{"TOKEN_FILE": write(t, secret, 0o666)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.extra[config.Variable] = write(t, version1, 0o644)
			cfg, err := config.Load(c.extra.lookup)
			if c.want == "" {
				expect(t, err, lineCredential)
				return
			}
			if err != nil || cfg.Credential.Reveal() != c.want {
				t.Errorf("got %v, %v", cfg, err)
			}
		})
	}
}

func TestMCPRefusesVersion2BeforeItLooksFurther(t *testing.T) {
	version2 := `{"version":2,"autoRecall":{"repositoryRoot":"/does/not/exist"},"provider":{"type":"mem0-platform-v3","apiKeyEnv":"TOKEN","appId":"a"}}`
	lookup := environment{config.Variable: write(t, version2, 0o644)}.lookup
	_, err := config.LoadVersion1(lookup)
	expect(t, err, lineVersion1)
	_, err = config.Load(lookup)
	expect(t, err, "External context config: autoRecall.repositoryRoot must be an existing directory.")
}

func TestRepositoryRootIsResolved(t *testing.T) {
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := func(name, target string) string {
		path := filepath.Join(directory, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write(t, "", 0o644)
	for _, c := range []struct{ name, root, want, line string }{
		{"a directory", directory, directory, ""},
		{"a link to a directory", link("link", directory), directory, ""},
		{"a trailing slash and dots", directory + "/./", directory, ""},
		{"missing", directory + "/missing", "", "autoRecall.repositoryRoot must be an existing directory"},
		{"a file", file, "", "autoRecall.repositoryRoot must be an existing directory"},
		{"a link to nothing", link("dangling", directory+"/missing"), "", "autoRecall.repositoryRoot must be an existing directory"},
		{"a link to the filesystem root", link("root", "/"), "", "autoRecall.repositoryRoot must not be the filesystem root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(`{"version":2,"autoRecall":{"repositoryRoot":%q},"provider":{"type":"mem0-platform-v3","apiKeyEnv":"TOKEN","appId":"a"}}`, c.root)
			cfg, err := config.Load(environment{config.Variable: write(t, text, 0o644), "TOKEN": "fake"}.lookup)
			if c.line != "" {
				expect(t, err, "External context config: "+c.line+".")
				return
			}
			if err != nil || cfg.RepositoryRoot != c.want {
				t.Errorf("got %v, %v, want %s", cfg, err, c.want)
			}
		})
	}
}

func TestSecretShowsItselfOnlyWhenAsked(t *testing.T) {
	canary := fakes.Canary()
	secret := config.NewSecret(canary)
	held := struct{ Credential config.Secret }{secret}
	hidden := struct{ credential config.Secret }{secret} // fmt does not call methods here
	encoded, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(secret), fmt.Sprint(held), fmt.Sprintf("%v %+v %#v %s %q %x %d", held, held, held, held, held, held, held),
		fmt.Sprintf("%v %+v %#v", hidden, hidden, hidden), secret.String(), string(encoded), fmt.Sprintf("%#v %x", &secret, secret)} {
		if leaks := fakes.Leaks([]string{canary}, []byte(text)); len(leaks) > 0 {
			t.Errorf("the secret shows in %s", text)
		}
	}
	if secret.Reveal() != canary {
		t.Error("the secret is not there when asked for")
	}
}

// expect compares a configuration error with its line; "" is no error.
func expect(t *testing.T, err error, line string) {
	t.Helper()
	if line == "" {
		if err != nil {
			t.Errorf("got %v, want no error", err)
		}
		return
	}
	var failure *config.Error
	if !errors.As(err, &failure) || err.Error() != line {
		t.Errorf("got %v, want %s", err, line)
	}
}
