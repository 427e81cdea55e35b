// Package e2e runs the product where it lives: the real Qwen Code, headless, with
// extctx as its MCP server, a fake model and a fake provider, all on loopback.
//
// It looks at what the provider received, what the model was given back, and what
// is left on disk and in the process table.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakemodel"
	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

// patience bounds one run of Qwen Code. It is no expectation of speed.
const patience = 60 * time.Second

// tool is the product's tool by the name Qwen Code gives it.
const tool = "mcp__external-context__context_search"

func TestMain(m *testing.M) {
	code := m.Run()
	programs.Close()
	os.Exit(code)
}

var programs need.Build

// session is one run of Qwen Code: its own directories, settings, model, provider
// and credential.
type session struct {
	t        *testing.T
	dir      string // holds home, qwen-home, repository, settings and configuration
	provider *fakes.GenericHTTP
	proxy    *fakes.Proxy // what would see any traffic that is not for loopback
	token    string

	// settings are the system settings. A test may change them before the run.
	settings map[string]any
	// config is the product's configuration.
	config string
	// program is the MCP server's command.
	program string

	model  *fakemodel.Model
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// newSession prepares a session in which one search works.
func newSession(t *testing.T) *session {
	t.Helper()
	need.Node(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, dir: dir, token: fakes.Canary(), program: programs.Program(t, "src/cmd/extctx")}
	for _, name := range []string{"home", "qwen-home", "repository", "tmp"} {
		if err := os.Mkdir(s.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.provider = fakes.StartGenericHTTP(t, s.token, nil)
	s.provider.SetItems(fakes.Item{ID: "1", Content: "The answer."})
	s.proxy = fakes.StartProxy(t, nil)
	s.settings = map[string]any{
		"tools":       map[string]any{"visible": []string{tool}},
		"permissions": map[string]any{"allow": []string{tool}},
		"privacy":     map[string]any{"usageStatisticsEnabled": false},
		"telemetry":   map[string]any{"enabled": false},
		"general":     map[string]any{"enableAutoUpdate": false, "chatRecording": false},
	}
	s.config = `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"` + s.provider.URL() + `","tokenEnv":"TOKEN"}}`
	return s
}

func (s *session) path(name string) string { return filepath.Join(s.dir, name) }

func (s *session) write(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mcpConfig is what --mcp-config is given: the product and nothing else.
func (s *session) mcpConfig() map[string]any {
	return map[string]any{"mcpServers": map[string]any{"external-context": map[string]any{
		"command":      s.program,
		"args":         []string{"mcp"},
		"env":          map[string]string{"QWEN_EXTERNAL_CONTEXT_CONFIG": s.path("provider.json"), "TOKEN_FILE": s.path("credential")},
		"includeTools": []string{"context_search"},
	}}}
}

// start starts Qwen Code with a prompt and a model that follows the script. The
// environment is built from nothing, and whatever is started ends with the test.
func (s *session) start(ctx context.Context, script fakemodel.Script) *exec.Cmd {
	s.t.Helper()
	model, err := fakemodel.Start(script)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(model.Close)
	s.model = model
	s.write("settings.json", encode(s.t, s.settings))
	s.write("provider.json", s.config)
	s.write("credential", s.token+"\n")
	s.write("mcp.json", encode(s.t, s.mcpConfig()))
	cmd := exec.CommandContext(ctx, need.Node(s.t), filepath.Join(need.NodeModules(s.t), "@qwen-code", "qwen-code", "cli.js"),
		"--auth-type", "openai", "--openai-base-url", model.URL(), "--openai-api-key", "fake", "-m", "fake",
		"--mcp-config", s.path("mcp.json"), "-p", "Look it up, please.")
	cmd.Dir = s.path("repository")
	cmd.Env = []string{
		"HOME=" + s.path("home"), "TMPDIR=" + s.path("tmp"), "PATH=/usr/bin:/bin",
		"QWEN_HOME=" + s.path("qwen-home"), "QWEN_CODE_SYSTEM_SETTINGS_PATH=" + s.path("settings.json"),
		"HTTP_PROXY=" + s.proxy.URL(), "HTTPS_PROXY=" + s.proxy.URL(), "NO_PROXY=127.0.0.1,localhost",
	}
	cmd.Stdout, cmd.Stderr = &s.stdout, &s.stderr
	// A group of its own, so that the end reaches everything that was started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

// run runs Qwen Code to its end, which must be a good one, and returns the tool
// results that the model was given.
func (s *session) run(calls ...fakemodel.Call) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	const closing = "That is all I found."
	cmd := s.start(ctx, fakemodel.Script{Calls: calls, Closing: closing})
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%v\nstdout: %s\nstderr: %s", err, s.stdout.Bytes(), s.stderr.Bytes())
	}
	if !strings.Contains(s.stdout.String(), closing) {
		s.t.Errorf("the model's closing text is not in stdout: %s", s.stdout.Bytes())
	}
	return s.model.ToolResults()
}

// search is a call of the product's tool with raw JSON arguments.
func search(arguments string) fakemodel.Call { return fakemodel.Call{Tool: tool, Arguments: arguments} }

// offered returns the tools with the product's prefix that the model was offered.
func (s *session) offered() map[string]json.RawMessage {
	tools := map[string]json.RawMessage{}
	for _, request := range s.model.Requests() {
		for _, t := range request.Tools {
			if strings.Contains(t.Function.Name, "external-context") || strings.Contains(t.Function.Name, "context_") {
				tools[t.Function.Name] = t.Function.Parameters
			}
		}
	}
	return tools
}

// filesWith returns the files below the session's directories that hold one of the
// canaries, but for those that the test itself wrote.
func (s *session) filesWith(canaries ...string) []string {
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
		if len(fakes.Leaks(canaries, content)) > 0 {
			found = append(found, strings.TrimPrefix(path, s.dir+"/"))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}
