// Package blackbox holds the built extctx to the contract from outside: what goes
// into its environment, files and stdin, what comes out of stdout, stderr and its
// exit status, and what the providers receive. It imports nothing of src.
package blackbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

// patience bounds every wait of these tests. It is no expectation of speed.
const patience = 20 * time.Second

// TestMain builds extctx once for all tests.
func TestMain(m *testing.M) {
	code := m.Run()
	programs.Close()
	os.Exit(code)
}

var programs need.Build

func extctx(t *testing.T) string { return programs.Program(t, "src/cmd/extctx") }

// environment is the whole environment of a process.
type environment map[string]string

func (e environment) with(more environment) environment {
	all := maps.Clone(e)
	maps.Copy(all, more)
	return all
}

func (e environment) list() []string {
	list := []string{}
	for name, value := range e {
		list = append(list, name+"="+value)
	}
	return list
}

// writeFile puts content in a new file, which every user can reach, and returns
// its path.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// configured is an environment with a configuration whose credential is in TOKEN.
func configured(t *testing.T, config, credential string) environment {
	t.Helper()
	return environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": writeFile(t, config), "TOKEN": credential}
}

func genericConfig(origin string, timeout time.Duration) string {
	return fmt.Sprintf(`{"version":1,"timeoutMs":%d,"provider":{"type":"generic-http-search-v1","baseUrl":%q,"tokenEnv":"TOKEN"}}`,
		timeout.Milliseconds(), origin)
}

func mem0Config(appID string, timeout time.Duration) string {
	return fmt.Sprintf(`{"version":1,"timeoutMs":%d,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"TOKEN","appId":%q}}`,
		timeout.Milliseconds(), appID)
}

// outcome is what is left of a process that has ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs extctx to its end with no input.
func run(t *testing.T, env environment, args ...string) outcome {
	t.Helper()
	program := extctx(t) // built the first time, which may take longer than patience
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env.list()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// session is an `extctx mcp` with its pipes in the test's hands.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	ended  chan struct{}
	frames chan map[string]any

	mu     sync.Mutex
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// lockedWriter writes to a buffer of a session under its lock.
type lockedWriter struct {
	s *session
	b *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.b.Write(p)
}

// start starts `extctx mcp`. The session ends with the test at the latest.
func start(t *testing.T, env environment) *session {
	t.Helper()
	return startCommand(t, exec.Command(extctx(t), "mcp"), env)
}

func startCommand(t *testing.T, cmd *exec.Cmd, env environment) *session {
	t.Helper()
	s := &session{t: t, cmd: cmd, ended: make(chan struct{}), frames: make(chan map[string]any, 1000)}
	cmd.Env = env.list()
	cmd.Stderr = lockedWriter{s, &s.stderr}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read(stdout)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
	})
	return s
}

// read takes stdout apart into frames; a line that is none fails the test.
func (s *session) read(stdout io.Reader) {
	defer close(s.ended)
	defer close(s.frames)
	scanner := bufio.NewScanner(io.TeeReader(stdout, lockedWriter{s, &s.stdout}))
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		var frame map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &frame); err != nil || frame["jsonrpc"] != "2.0" {
			s.t.Errorf("stdout carries what is no frame: %q", scanner.Bytes())
			continue
		}
		s.frames <- frame
	}
	_ = s.cmd.Wait()
}

// output returns all that has come out so far.
func (s *session) output() (stdout, stderr []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.stdout.Bytes()), bytes.Clone(s.stderr.Bytes())
}

// send writes one line to stdin.
func (s *session) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// next returns the next frame from stdout.
func (s *session) next() map[string]any {
	s.t.Helper()
	select {
	case frame, ok := <-s.frames:
		if !ok {
			_, stderr := s.output()
			s.t.Fatalf("stdout ended; stderr: %s", stderr)
		}
		return frame
	case <-time.After(patience):
		s.t.Fatal("no frame came")
	}
	return nil
}

// call sends a request and returns the answer, which must be the next frame.
func (s *session) call(id int, method, params string) map[string]any {
	s.t.Helper()
	s.send(request(id, method, params))
	frame := s.next()
	if frame["id"] != float64(id) {
		s.t.Fatalf("got an answer to %v, want %d", frame["id"], id)
	}
	return frame
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

const initializeParams = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// initialize does the handshake and returns the server's answer.
func (s *session) initialize() map[string]any {
	s.t.Helper()
	frame := s.call(0, "initialize", initializeParams)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	result, ok := frame["result"].(map[string]any)
	if !ok {
		s.t.Fatalf("initialize failed: %v", frame)
	}
	return result
}

// searchCall is the request for one search with raw JSON arguments.
func searchCall(id int, arguments string) string {
	return request(id, "tools/call", `{"name":"context_search","arguments":`+arguments+`}`)
}

// toolResult is a tool's answer.
type toolResult struct {
	isError    bool
	text       string
	structured any
}

// search calls context_search with raw JSON arguments.
func (s *session) search(id int, arguments string) toolResult {
	s.t.Helper()
	s.send(searchCall(id, arguments))
	return s.result(s.next(), id)
}

// result reads a tool's answer to the request id.
func (s *session) result(frame map[string]any, id int) toolResult {
	s.t.Helper()
	result, ok := frame["result"].(map[string]any)
	if !ok || frame["id"] != float64(id) {
		s.t.Fatalf("want a result for %d, got %v", id, frame)
	}
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		s.t.Fatalf("want one content block, got %v", result)
	}
	block, _ := content[0].(map[string]any)
	text, _ := block["text"].(string)
	isError, _ := result["isError"].(bool)
	return toolResult{isError: isError, text: text, structured: result["structuredContent"]}
}

// wait returns the exit status, and how long the process took to end from now.
func (s *session) wait() (code int, took time.Duration) {
	s.t.Helper()
	begin := time.Now()
	select {
	case <-s.ended:
		return s.cmd.ProcessState.ExitCode(), time.Since(begin)
	case <-time.After(patience):
		s.t.Fatal("the process does not end")
	}
	return 0, 0
}

func (s *session) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
}

// silent checks that no canary has come out and that stderr is empty.
func (s *session) silent(canaries ...string) {
	s.t.Helper()
	stdout, stderr := s.output()
	if leaks := fakes.Leaks(canaries, stdout, stderr); len(leaks) > 0 {
		s.t.Errorf("leaked %v\nstdout: %s\nstderr: %s", leaks, stdout, stderr)
	}
	if len(stderr) > 0 {
		s.t.Errorf("stderr is not empty: %s", stderr)
	}
}

// soon is a context for waiting on a fake.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
