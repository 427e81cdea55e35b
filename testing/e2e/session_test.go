// Package e2e runs the product where it lives: the real Qwen Code, headless, with
// extctx as its MCP server, a fake model and a fake provider, all on loopback.
//
// It looks at what the provider received, what the model was offered and given
// back, and what is left on disk and in the process table. What Qwen Code does of
// its own accord is stated here as it was found, so that a newer one that does
// something else is noticed.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// prompt is what the person asks, and closing what the model says in the end.
const (
	prompt  = "Look it up, please."
	closing = "That is all I found."
)

// TestMain builds extctx once for all tests.
func TestMain(m *testing.M) {
	code := m.Run()
	programs.Close()
	os.Exit(code)
}

var programs need.Build

// object is a JSON object of a settings file.
type object = map[string]any

// session is one run of Qwen Code: its own directories, settings, model, provider
// and credential. What it is made of may be changed until it starts.
type session struct {
	t        *testing.T
	dir      string // holds home, qwen-home, repository, tmp and the files below
	provider *fakes.GenericHTTP
	proxy    *fakes.Proxy // sees any traffic that is not for loopback
	token    string

	settings    object            // settings.json, the system settings
	config      object            // provider.json, the product's configuration
	environment map[string]string // all of Qwen Code's environment
	program     string            // extctx

	model  *fakemodel.Model
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// newSession prepares a session in which a search works.
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
	s.settings = object{
		"tools":       object{"visible": []string{tool}, "approvalMode": "default"},
		"permissions": object{"allow": []string{tool}},
		"general":     object{"chatRecording": false, "enableAutoUpdate": false},
		"memory":      object{"enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false},
		"privacy":     object{"usageStatisticsEnabled": false},
		"telemetry":   object{"enabled": false},
	}
	s.config = object{"version": 1, "provider": object{
		"type": "generic-http-search-v1", "baseUrl": s.provider.URL(), "tokenEnv": "TOKEN"}}
	s.environment = map[string]string{
		"HOME": s.path("home"), "TMPDIR": s.path("tmp"), "PATH": "/usr/bin:/bin",
		"QWEN_HOME": s.path("qwen-home"), "QWEN_CODE_SYSTEM_SETTINGS_PATH": s.path("settings.json"),
		"HTTP_PROXY": s.proxy.URL(), "HTTPS_PROXY": s.proxy.URL(), "NO_PROXY": "127.0.0.1,localhost",
	}
	return s
}

func (s *session) path(name string) string { return filepath.Join(s.dir, name) }

// mcpConfig is what --mcp-config is given: the product and nothing else.
func (s *session) mcpConfig() object {
	return object{"mcpServers": object{"external-context": object{
		"command":      s.program,
		"args":         []string{"mcp"},
		"env":          map[string]string{"QWEN_EXTERNAL_CONTEXT_CONFIG": s.path("provider.json"), "TOKEN_FILE": s.path("credential")},
		"includeTools": []string{"context_search"},
	}}}
}

// argv is the whole command.
func (s *session) argv() []string {
	return []string{
		need.Node(s.t), filepath.Join(need.NodeModules(s.t), "@qwen-code", "qwen-code", "cli.js"),
		"--auth-type", "openai", "--openai-base-url", s.model.URL(), "--openai-api-key", "fake", "-m", "fake",
		"--mcp-config", s.path("mcp.json"), "-p", prompt,
	}
}

// write writes a file of the session: JSON, or a text as it is.
func (s *session) write(name string, content any) {
	s.t.Helper()
	text, ok := content.(string)
	if !ok {
		encoded, err := json.Marshal(content)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(encoded)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// prepare starts the model and writes the files.
func (s *session) prepare(steps ...fakemodel.Step) {
	s.t.Helper()
	model, err := fakemodel.Start(fakemodel.Script{Steps: steps, Closing: closing})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(model.Close)
	s.model = model
	s.write("settings.json", s.settings)
	s.write("provider.json", s.config)
	s.write("credential", s.token+"\n")
	s.write("mcp.json", s.mcpConfig())
}

// start starts Qwen Code with a model that takes the steps. When the test ends,
// nothing that was started may be running.
func (s *session) start(ctx context.Context, steps ...fakemodel.Step) *exec.Cmd {
	s.t.Helper()
	s.prepare(steps...)
	argv := s.argv()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.path("repository")
	for name, value := range s.environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	slices.Sort(cmd.Env)
	cmd.Stdout, cmd.Stderr = &s.stdout, &s.stderr
	// A group of its own, so that the end reaches what was started in it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	s.t.Cleanup(s.nothingRuns)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd
}

// carryOut runs Qwen Code to its end, which must be a good one and use up the
// steps, and returns the tool results that the model was given.
func (s *session) carryOut(steps ...fakemodel.Step) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := s.start(ctx, steps...).Wait(); err != nil {
		s.t.Fatalf("%v\nstdout: %s\nstderr: %s", err, s.stdout.Bytes(), s.stderr.Bytes())
	}
	if s.stdout.String() != closing+"\n" {
		s.t.Errorf("stdout is %q", s.stdout.Bytes())
	}
	if left := s.model.Left(); left > 0 {
		s.t.Errorf("%d steps of the model's script were not taken", left)
	}
	return s.model.ToolResults()
}

// run is a session in which the model makes the calls and then closes, and nobody
// but the fakes is to be reached.
func (s *session) run(calls ...fakemodel.Call) []string {
	s.t.Helper()
	var steps []fakemodel.Step
	if len(calls) > 0 {
		steps = append(steps, asked(calls...))
	}
	results := s.carryOut(steps...)
	if reached := s.proxy.Asked(); len(reached) > 0 {
		s.t.Errorf("somebody wanted to reach %q", reached)
	}
	return results
}

// asked is the step of answering the person's prompt with the calls.
func asked(calls ...fakemodel.Call) fakemodel.Step {
	return fakemodel.Step{When: fakemodel.Asked(prompt), Calls: calls}
}

// search is a call of the product's tool with raw JSON arguments.
func search(arguments string) fakemodel.Call { return fakemodel.Call{Tool: tool, Arguments: arguments} }
