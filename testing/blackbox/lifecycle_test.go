package blackbox

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

// limit is the second that contract section 1 gives a process to end.
const limit = time.Second

func itoa(n int) string { return strconv.Itoa(n) }

func TestEndsWithinASecond(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*session)
	}{
		{"when stdin ends", func(s *session) { s.stdin.Close() }},
		{"on SIGTERM", func(s *session) { s.signal(syscall.SIGTERM) }},
		{"on SIGINT", func(s *session) { s.signal(syscall.SIGINT) }},
		{"when stdin ends and a signal comes", func(s *session) { s.stdin.Close(); s.signal(syscall.SIGTERM) }},
	} {
		t.Run(c.name+", idle", func(t *testing.T) {
			s, _ := running(t)
			s.initialize()
			c.end(s)
			if code, took := s.wait(); code != 0 || took > limit {
				t.Errorf("ended with %d after %v", code, took)
			}
			s.silent()
		})
		t.Run(c.name+", before the handshake", func(t *testing.T) {
			s, _ := running(t)
			s.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			s.next() // only now is it certain that the signal handler is there
			c.end(s)
			if code, took := s.wait(); code != 0 || took > limit {
				t.Errorf("ended with %d after %v", code, took)
			}
		})
		t.Run(c.name+", a request in flight", func(t *testing.T) {
			s, fake := running(t)
			fake.Behave(fakes.Silence)
			s.initialize()
			s.send(searchCall(1, `{"query":"x"}`))
			if err := fake.Wait(soon(t), 1); err != nil {
				t.Fatal(err)
			}
			c.end(s)
			code, took := s.wait()
			if code != 0 || took > limit {
				t.Errorf("ended with %d after %v", code, took)
			}
			if err := fake.WaitGone(soon(t), 1); err != nil {
				t.Error("the request went on at the provider")
			}
			if got := s.result(s.next(), 1); !got.isError || got.text != failed {
				t.Errorf("the call in flight was answered %+v", got)
			}
			s.silent()
		})
	}
}

func TestCallsFinishWhenStdinEndsRightBehindThem(t *testing.T) {
	s, fake := running(t)
	s.send(request(0, "initialize", initializeParams))
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.send(searchCall(1, `{"query":"x"}`))
	s.stdin.Close()
	if frame := s.next(); frame["id"] != float64(0) {
		t.Fatalf("got %v", frame)
	}
	if got := s.result(s.next(), 1); got.isError || !strings.Contains(got.text, "The answer.") {
		t.Errorf("got %+v", got)
	}
	if code, _ := s.wait(); code != 0 || fake.Count() != 1 {
		t.Errorf("ended with %d after %d requests", code, fake.Count())
	}
}

func TestAClientThatReadsNoMoreCannotHoldTheProcess(t *testing.T) {
	fake := fakes.StartGenericHTTP(t, "fake-token", nil)
	fake.SetItems(fakes.Item{ID: "1", Content: strings.Repeat("x", 1000)})
	unread, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	cmd := exec.Command(extctx(t), "mcp")
	cmd.Env = configured(t, genericConfig(fake.URL(), 5*time.Second), "fake-token").list()
	cmd.Stdout = write
	var input bytes.Buffer
	fmt.Fprintln(&input, request(0, "initialize", initializeParams))
	const calls = 200 // more answers than a pipe holds
	for i := range calls {
		fmt.Fprintln(&input, searchCall(i+1, `{"query":"x"}`))
	}
	cmd.Stdin = &input
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer cmd.Process.Kill()
	if err := fake.Wait(soon(t), calls/2); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Wait(); err != nil || time.Since(begin) > 2*limit {
		t.Errorf("ended with %v after %v", err, time.Since(begin))
	}
}

func TestAClientThatSendsRubbishAndReadsNothingCannotHoldTheProcess(t *testing.T) {
	for _, end := range []string{"end of input", "signal"} {
		t.Run(end, func(t *testing.T) {
			unread, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer unread.Close()
			cmd := exec.Command(extctx(t), "mcp")
			cmd.Env = configured(t, genericConfig("https://context.example.com", time.Second), "fake-token").list()
			cmd.Stdout = write
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			write.Close()
			defer cmd.Process.Kill()
			// More answers than a pipe holds. All of it is taken, or this would block.
			if _, err := io.WriteString(stdin, strings.Repeat("rubbish\n", 20_000)); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if end == "signal" {
				err = cmd.Process.Signal(syscall.SIGTERM)
			} else {
				err = stdin.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || time.Since(begin) > 2*limit {
				t.Errorf("ended with %v after %v", err, time.Since(begin))
			}
		})
	}
}

func TestADuplicateIDDoesNotDelayTheEnd(t *testing.T) {
	s, fake := running(t)
	gate := fakes.NewGate()
	fake.Behave(gate.Hold)
	s.initialize()
	for range 3 {
		s.send(searchCall(1, `{"query":"x"}`))
	}
	if err := fake.Wait(soon(t), 1); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	for frame := s.next(); frame["id"] != float64(1) || frame["result"] == nil; frame = s.next() {
	}
	s.stdin.Close()
	if code, took := s.wait(); code != 0 || took > 400*time.Millisecond {
		t.Errorf("ended with %d after %v", code, took)
	}
}

func TestSignalsWorkAsPID1(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip(need.SkipPrefix + "needs root to make a PID namespace: run the tests as root")
	}
	unshare := need.Tool(t, "unshare", "install util-linux")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			fake := fakes.StartGenericHTTP(t, "fake-token", nil)
			fake.Behave(fakes.Silence)
			cmd := exec.Command(unshare, "--pid", "--fork", "--kill-child", extctx(t), "mcp")
			s := startCommand(t, cmd, configured(t, genericConfig(fake.URL(), 30*time.Second), "fake-token"))
			s.initialize()
			s.send(searchCall(1, `{"query":"x"}`))
			if err := fake.Wait(soon(t), 1); err != nil {
				t.Fatal(err)
			}
			child := onlyChild(t, cmd.Process.Pid)
			if err := syscall.Kill(child, signal); err != nil {
				t.Fatal(err)
			}
			if _, took := s.wait(); took > limit {
				t.Errorf("ended after %v", took)
			}
			if got := s.result(s.next(), 1); !got.isError {
				t.Errorf("the call in flight was answered %+v", got)
			}
		})
	}
}

// onlyChild returns the id of a process's one child.
func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "task", itoa(pid), "children"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func TestCallsAreIndependent(t *testing.T) {
	s, fake := running(t)
	gate := fakes.NewGate()
	fake.Behave(fakes.When(`"query":"slow"`, gate.Hold))
	s.initialize()
	s.send(searchCall(1000, `{"query":"slow"}`))
	if err := fake.Wait(soon(t), 1); err != nil {
		t.Fatal(err)
	}
	const parallel = 64
	for id := range parallel {
		s.send(searchCall(id+1, `{"query":"fast"}`))
	}
	answered := map[any]bool{}
	for range parallel {
		frame := s.next()
		answered[frame["id"]] = true
		if got := s.result(frame, int(frame["id"].(float64))); got.isError {
			t.Errorf("call %v: %+v", frame["id"], got)
		}
	}
	if len(answered) != parallel || answered[float64(1000)] {
		t.Errorf("%d of %d calls were answered while one was slow", len(answered), parallel)
	}
	gate.Open()
	if got := s.result(s.next(), 1000); got.isError {
		t.Errorf("the slow call: %+v", got)
	}
	if got := fake.Count(); got != parallel+1 {
		t.Errorf("%d requests for %d calls", got, parallel+1)
	}
	s.silent()
}

func TestCancellationAbortsOneRequest(t *testing.T) {
	s, fake := running(t)
	gate := fakes.NewGate()
	fake.Behave(gate.Hold)
	s.initialize()
	s.send(searchCall(1, `{"query":"kept"}`))
	s.send(searchCall(2, `{"query":"cancelled"}`))
	if err := fake.Wait(soon(t), 2); err != nil {
		t.Fatal(err)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"canary"}}`)
	if err := fake.WaitGone(soon(t), 1); err != nil {
		t.Fatal("the cancelled request went on at the provider")
	}
	if got := s.result(s.next(), 2); !got.isError || got.text != failed {
		t.Errorf("the cancelled call: %+v", got)
	}
	gate.Open()
	if got := s.result(s.next(), 1); got.isError {
		t.Errorf("the other call: %+v", got)
	}
	s.silent("canary")
}
