package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"golang.org/x/sys/unix"
)

// goneWithin is how long the product and its client may take to end.
const goneWithin = 2 * time.Second

func TestTheServerEndsWhenQwenCodeIsKilled(t *testing.T) {
	s := newSession(t)
	s.provider.Behave(fakes.Silence)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.start(ctx, asked(search(`{"query":"x"}`)))
	if err := s.provider.Wait(ctx, 1); err != nil {
		t.Fatal(err)
	}
	servers := s.running(s.program)
	if len(servers) != 1 {
		t.Fatalf("%d servers are running", len(servers))
	}
	if err := cmd.Process.Kill(); err != nil { // the CLI alone, not its group
		t.Fatal(err)
	}
	if !servers[0].endsWithin(t, goneWithin) {
		t.Errorf("extctx goes on %v after Qwen Code was killed", goneWithin)
	}
	if err := s.provider.WaitGone(ctx, 1); err != nil {
		t.Error("the request goes on at the provider")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("Qwen Code was killed and ended well")
	}
}

// process is a running process of the session, held by a descriptor, so that it
// is never mistaken for another that has got its number.
type process struct {
	descriptor int
	program    string
}

// endsWithin waits for the end of a process that is nobody's child here. A signal
// to the test, as Go's own scheduler sends them, does not end the wait.
func (p process) endsWithin(t *testing.T, limit time.Duration) bool {
	t.Helper()
	for deadline := time.Now().Add(limit); ; {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.descriptor), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
}

// nothingRuns fails the test if something of the session goes on for longer than
// it may, and ends it.
func (s *session) nothingRuns() {
	for _, p := range s.running("") {
		if !p.endsWithin(s.t, goneWithin) {
			s.t.Errorf("%s is left running", p.program)
			if err := unix.PidfdSendSignal(p.descriptor, unix.SIGKILL, nil, 0); err != nil {
				s.t.Error(err)
			}
		}
	}
}

// running returns the processes of the session that run the program, or all. They
// are known by their environment, which names the session's directory, so that
// neither a group nor a parent matters.
func (s *session) running(program string) []process {
	s.t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.t.Fatal(err)
	}
	var found []process
	for _, path := range environments {
		p, ok, err := s.own(filepath.Dir(path))
		if err != nil {
			s.t.Fatal(err)
		}
		if ok && (program == "" || p.program == program) {
			s.t.Cleanup(func() { unix.Close(p.descriptor) })
			found = append(found, p)
		} else if ok {
			unix.Close(p.descriptor)
		}
	}
	return found
}

// own returns the process in a directory of /proc if it is the session's. One that
// has ended meanwhile is not.
func (s *session) own(dir string) (process, bool, error) {
	pid, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return process{}, false, err
	}
	descriptor, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, syscall.ESRCH) {
		return process{}, false, nil
	}
	if err != nil {
		return process{}, false, fmt.Errorf("process %d: %w", pid, err)
	}
	// The number is held by now: what is read belongs to this process.
	environment, err := os.ReadFile(filepath.Join(dir, "environ"))
	program, errProgram := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil || errProgram != nil || !bytes.Contains(environment, []byte(s.dir+"/")) {
		unix.Close(descriptor)
		return process{}, false, nil
	}
	return process{descriptor, program}, true, nil
}
