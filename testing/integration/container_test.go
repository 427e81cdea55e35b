// Package integration runs the image that Bazel built, sealed as the launcher will
// seal it, in a real container engine against fake providers. It shares the
// machine's network namespace with them, so that loopback is loopback for both.
//
// It is about the container: what it may do, what it leaves behind, and how it
// ends. What extctx answers is held in testing/blackbox.
package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

// patience bounds every wait of these tests. It is no expectation of speed.
const patience = 30 * time.Second

// place is what containers of one test are made of.
type place struct {
	t             *testing.T
	docker, image string
	dir           string // mounted files, reachable for every user
	token         string
	provider      *fakes.GenericHTTP
	label         string // marks the containers of this test
	logDriver     string
	network       string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	image, docker := need.Image(t)
	// Not TempDir, whose path may have a comma, which --mount cannot take.
	dir, err := os.MkdirTemp("", "external-context-integration-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, docker: docker, image: image, dir: dir, token: fakes.Canary(), label: "external-context.test=" + fakes.Canary(), logDriver: "none", network: "host"}
	p.provider = fakes.StartGenericHTTP(t, p.token, nil)
	p.provider.SetItems(fakes.Item{ID: "1", Content: "The answer."})
	p.write("provider.json", `{"version":1,"timeoutMs":30000,"provider":{"type":"generic-http-search-v1","baseUrl":"`+p.provider.URL()+`","tokenEnv":"TOKEN"}}`)
	p.write("credential", p.token+"\n")
	return p
}

// write puts a file where it can be mounted from.
func (p *place) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// run is the sealed command line. Options stand before the image; command is the
// image's subcommand with its arguments.
func (p *place) run(options []string, command ...string) []string {
	args := []string{"run", "--rm", "-i", "--pull=never", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
		"--pids-limit=64", "--memory=128m", "--user=65532:65532", "--log-driver=" + p.logDriver, "--network=" + p.network, "--label=" + p.label,
		"--mount=type=bind,src=" + filepath.Join(p.dir, "provider.json") + ",dst=/config/provider.json,readonly",
		"--mount=type=bind,src=" + filepath.Join(p.dir, "credential") + ",dst=/config/credential,readonly",
		"--env=QWEN_EXTERNAL_CONTEXT_CONFIG=/config/provider.json", "--env=TOKEN_FILE=/config/credential"}
	args = append(args, options...)
	return append(append(args, p.image), command...)
}

// client runs the engine's client with an environment from nothing.
func (p *place) client(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.docker, args...)
	cmd.Env = []string{"HOME=" + p.dir, "PATH=/usr/bin:/bin"}
	return cmd
}

// ask runs the engine's client and returns what it says on stdout.
func (p *place) ask(args ...string) string {
	p.t.Helper()
	// The end of a test cleans up with this too, so the test's own context is not
	// the one to use.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), patience)
	defer cancel()
	out, err := p.client(ctx, args...).Output()
	if err != nil {
		p.t.Fatalf("docker %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// containers lists the ids of this test's containers, running or not.
func (p *place) containers() []string {
	p.t.Helper()
	return strings.Fields(p.ask("ps", "--all", "--quiet", "--no-trunc", "--filter=label="+p.label))
}

// session is an MCP session with a container.
type session struct {
	*place
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bytes.Buffer
	id     string // the container's
}

// start starts `extctx mcp` in a container and does the handshake.
func (p *place) start(options ...string) *session {
	p.t.Helper()
	s := &session{place: p, cmd: p.client(p.t.Context(), p.run(options, "mcp")...), stderr: &bytes.Buffer{}}
	s.cmd.Stderr = s.stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	s.stdin, s.stdout = stdin, bufio.NewReaderSize(stdout, 1<<20)
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		for _, id := range p.containers() {
			_ = exec.Command(p.docker, "rm", "--force", id).Run()
		}
	})
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	s.receive()
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	containers := p.containers()
	if len(containers) != 1 {
		p.t.Fatalf("%d containers run", len(containers))
	}
	s.id = containers[0]
	return s
}

func (s *session) send(frame string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, frame+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// receive reads one frame; anything else on stdout fails the test.
func (s *session) receive() map[string]any {
	s.t.Helper()
	line, err := s.stdout.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%v; stderr: %s", err, s.stderr)
	}
	var frame map[string]any
	if err := json.Unmarshal(line, &frame); err != nil {
		s.t.Fatalf("no frame: %q", line)
	}
	return frame
}

// askFor sends a search without waiting for its answer.
func (s *session) askFor(query string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"context_search","arguments":{"query":%q}}}`, query))
}

// search returns the text of a search's result.
func (s *session) search(query string) string {
	s.t.Helper()
	s.askFor(query)
	result, _ := s.receive()["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		s.t.Fatalf("got %v", result)
	}
	text, _ := content[0].(map[string]any)["text"].(string)
	return text
}

// outcome is what is left of a container that was run to its end.
type outcome struct {
	stdout, stderr string
	code           int
}

// end runs a sealed container to its end.
func (p *place) end(options []string, command ...string) outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	cmd := p.client(ctx, p.run(options, command...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}
