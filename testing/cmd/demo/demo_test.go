package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/need"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// lastLine is how every page ends.
const lastLine = "Everything was stopped and removed in <time>; nothing is left running."

// showing is one demo in a test and what it started.
type showing struct {
	demo
	output  bytes.Buffer
	temp    string // holds all temporary directories
	started *exec.Cmd
}

// newShowing returns a demo of extctx as built here.
func newShowing(t *testing.T) *showing {
	t.Helper()
	s := &showing{temp: t.TempDir()}
	t.Setenv("TMPDIR", s.temp)
	root := need.Root(t)
	s.demo = demo{page: page{out: &s.output}, corpus: filepath.Join(root, "testing", "sample"), server: builtServer(root)}
	command := s.server.command
	s.server.command = func(dir string, files sessionFiles) *exec.Cmd {
		s.started = command(dir, files)
		return s.started
	}
	return s
}

// transcript returns the page with what differs between runs masked.
func (s *showing) transcript() string {
	text := s.output.String()
	for _, mask := range []struct{ pattern, by string }{
		{` *\d+\.\d m?s`, " <time>"},
		{`127\.0\.0\.1:\d+`, "127.0.0.1:<port>"},
		{`"updatedAt": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`, `"updatedAt": "<time>"`},
	} {
		text = regexp.MustCompile(mask.pattern).ReplaceAllString(text, mask.by)
	}
	return text
}

// assertNothingIsLeft checks processes, sockets and files.
func (s *showing) assertNothingIsLeft(t *testing.T) {
	t.Helper()
	if s.started != nil && s.started.Process != nil && s.started.ProcessState == nil {
		t.Error("the product still runs")
	}
	if address := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(s.output.String()); address != "" {
		if connection, err := net.Dial("tcp", address); err == nil {
			_ = connection.Close()
			t.Error("the provider still listens")
		}
	}
	left, err := os.ReadDir(s.temp)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}

func TestTheDefaultQuestionsTranscript(t *testing.T) {
	s := newShowing(t)
	if err := s.run(t.Context(), defaultQuestion); err != nil {
		t.Fatalf("%v\n%s", err, s.output.String())
	}
	assertGolden(t, "transcript.golden", s.transcript())
	s.assertNothingIsLeft(t)
}

func assertGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	const mend = "if it should be so, run: go test ./testing/cmd/demo -update"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, mend)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-golden +now):\n%s\n%s", path, diff, mend)
	}
}

func TestARefusedQuestionShowsTheToolsOwnWords(t *testing.T) {
	for name, test := range map[string]struct{ question, says string }{
		"empty":            {"", "query must not be empty"},
		"blank":            {" \t\u3000", "query must not be empty"},
		"2001 code points": {strings.Repeat("é", 2001), "query must be at most 2000 characters long."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShowing(t)
			if err := s.run(t.Context(), test.question); err == nil {
				t.Error("a refused question counts as answered")
			}
			page := s.transcript()
			for _, want := range []string{test.says, "What left, as the provider received it: 0 requests", lastLine} {
				if !strings.Contains(page, want) {
					t.Errorf("no %q in\n%s", want, page)
				}
			}
			s.assertNothingIsLeft(t)
		})
	}
	s := newShowing(t)
	if err := s.run(t.Context(), strings.Repeat("é", 2000)); err != nil {
		t.Errorf("2000 code points: %v", err)
	}
}

func TestNothingIsLeftWhenAStepFails(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*showing)
		says  string
	}{
		"the build": {
			func(s *showing) { s.server.prepare = func(string) error { return io.ErrUnexpectedEOF } },
			`run "go build ./src/cmd/extctx" to see why`},
		"the corpus": {
			func(s *showing) { s.corpus = filepath.Join(s.corpus, "missing") }, "the folder cannot be opened"},
		"the start": {
			func(s *showing) { s.change(func(cmd *exec.Cmd) { cmd.Env = nil }) },
			"the MCP server did not start: QWEN_EXTERNAL_CONTEXT_CONFIG must name an absolute file path."},
		"a program that is not there": {
			func(s *showing) { s.change(func(cmd *exec.Cmd) { cmd.Path += "-missing" }) }, "the MCP server did not start"},
		"a provider that refuses the token": {
			func(s *showing) {
				s.change(func(cmd *exec.Cmd) {
					cmd.Env = []string{cmd.Env[0], tokenVariable + "=not-the-token"}
				})
			}, "the search was not answered"},
		"an end that does not come by itself": {
			func(s *showing) {
				s.change(func(cmd *exec.Cmd) {
					cmd.Args = []string{"sh", "-c", `"$0" mcp; exec sleep 60`, cmd.Path}
					cmd.Path = "/bin/sh"
					cmd.Env = append(cmd.Env, "PATH=/usr/bin:/bin")
				})
			}, "did not end with its stdin and was terminated"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShowing(t)
			test.spoil(s)
			err := s.run(t.Context(), defaultQuestion)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %q", err, test.says)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is more than one line: %q", err)
			}
			s.assertNothingIsLeft(t)
		})
	}
}

// change alters the command before it is started.
func (s *showing) change(alter func(*exec.Cmd)) {
	command := s.server.command
	s.server.command = func(dir string, files sessionFiles) *exec.Cmd {
		cmd := command(dir, files)
		alter(cmd)
		return cmd
	}
}

func TestNothingIsLeftWhenInterrupted(t *testing.T) {
	for name, interrupt := range map[string]func(*showing, context.CancelFunc){
		"at once": func(_ *showing, cancel context.CancelFunc) { cancel() },
		"while building": func(s *showing, cancel context.CancelFunc) {
			s.server.prepare = func(string) error { cancel(); return nil }
		},
		"while starting": func(s *showing, cancel context.CancelFunc) { s.change(func(*exec.Cmd) { cancel() }) },
		"while telling": func(s *showing, cancel context.CancelFunc) {
			s.page.out = writerFunc(func(data []byte) (int, error) {
				if bytes.Contains(data, []byte("Search ")) {
					cancel()
				}
				return s.output.Write(data)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShowing(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			interrupt(s, cancel)
			if err := s.run(ctx, defaultQuestion); err != errInterrupted {
				t.Errorf("error %v, want %v", err, errInterrupted)
			}
			if page := s.transcript(); !strings.HasSuffix(page, "\n"+lastLine+"\n") {
				t.Errorf("the page ends otherwise:\n%s", page)
			}
			s.assertNothingIsLeft(t)
		})
	}
}

// writerFunc is a function as a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(data []byte) (int, error) { return f(data) }

func TestASignalEndsTheProgramTheCleanWay(t *testing.T) {
	var build need.Build
	defer build.Close()
	program := build.Program(t, "testing/cmd/demo")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newShowing(t) // sets TMPDIR
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			// The signal is sent when the title is printed: the build comes next.
			cmd.Stdout = writerFunc(func(data []byte) (int, error) {
				if s.output.Len() == 0 {
					_ = cmd.Process.Signal(sig)
				}
				return s.output.Write(data)
			})
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != 1 || stderr.String() != "demo: interrupted\n" {
				t.Errorf("%v, stderr %q", err, stderr.String())
			}
			if !strings.HasSuffix(s.transcript(), lastLine+"\n") {
				t.Errorf("the page ends otherwise:\n%s", s.transcript())
			}
			s.assertNothingIsLeft(t)
		})
	}
}
