package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakemodel"
	"external-context.internal/appliance/testing/fakes"
	"golang.org/x/sys/unix"
)

func TestAConfigurationErrorTakesTheToolAwayAndSaysNothing(t *testing.T) {
	s := newSession(t)
	canary := fakes.Canary()
	s.config = `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://user:` + canary + `@example.com/` + canary + `","tokenEnv":"TOKEN"}}`
	s.run()
	if tools := s.offered(); len(tools) != 0 {
		t.Errorf("offered: %s", tools)
	}
	if leaks := fakes.Leaks([]string{canary, s.token}, s.stdout.Bytes(), s.stderr.Bytes()); len(leaks) > 0 {
		t.Errorf("leaked %v\nstdout: %s\nstderr: %s", leaks, s.stdout.Bytes(), s.stderr.Bytes())
	}
	if files := s.filesWith(canary, s.token); len(files) > 0 {
		t.Errorf("on disk in %v", files)
	}
}

func TestNothingOfASearchIsOnDiskWithChatRecordingOff(t *testing.T) {
	s := newSession(t)
	asked, answered := fakes.Canary(), fakes.Canary()
	s.provider.SetItems(fakes.Item{ID: "1", Content: answered})
	results := s.run(search(`{"query":"` + asked + `"}`))
	if len(results) != 1 || !strings.Contains(results[0], answered) {
		t.Fatalf("the model was given %q", results)
	}
	if files := s.filesWith(asked, answered, s.token); len(files) > 0 {
		t.Errorf("on disk in %v", files)
	}
}

// The control of the test above: it can fail, and chat recording is why.
func TestQueryAndResultAreOnDiskWithChatRecordingAndTheCredentialIsNot(t *testing.T) {
	s := newSession(t)
	s.settings["general"] = map[string]any{"enableAutoUpdate": false, "chatRecording": true}
	asked, answered := fakes.Canary(), fakes.Canary()
	s.provider.SetItems(fakes.Item{ID: "1", Content: answered})
	s.run(search(`{"query":"` + asked + `"}`))
	files := s.filesWith(asked, answered)
	if len(files) == 0 {
		t.Error("nothing was recorded")
	}
	for _, file := range files {
		if !strings.HasPrefix(file, "qwen-home/projects/") {
			t.Errorf("recorded in %s", file)
		}
	}
	if files := s.filesWith(s.token); len(files) > 0 {
		t.Errorf("the credential is on disk in %v", files)
	}
}

func TestTheServerEndsWhenQwenCodeIsKilled(t *testing.T) {
	s := newSession(t)
	s.provider.Behave(fakes.Silence)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.start(ctx, fakemodel.Script{Calls: []fakemodel.Call{search(`{"query":"x"}`)}})
	if err := s.provider.Wait(ctx, 1); err != nil {
		t.Fatal(err)
	}
	server := s.serverProcess()
	if err := cmd.Process.Kill(); err != nil { // the CLI alone, not its group
		t.Fatal(err)
	}
	if !endsWithin(t, server, 2*time.Second) {
		t.Error("extctx goes on 2 s after Qwen Code was killed")
	}
	if err := s.provider.WaitGone(ctx, 1); err != nil {
		t.Error("the request goes on at the provider")
	}
	_ = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// endsWithin waits for the end of a process that is nobody's child here, through a
// descriptor of it. A signal to the test, as Go's own scheduler sends them, does not
// end the wait.
func endsWithin(t *testing.T, descriptor int, limit time.Duration) bool {
	t.Helper()
	defer unix.Close(descriptor)
	for deadline := time.Now().Add(limit); ; {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
}

// serverProcess returns a descriptor of the running extctx.
func (s *session) serverProcess() int {
	s.t.Helper()
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, program := range programs {
		if target, err := os.Readlink(program); err != nil || target != s.program {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(program)))
		if err != nil {
			s.t.Fatal(err)
		}
		descriptor, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		return descriptor
	}
	s.t.Fatal("no extctx is running")
	return 0
}
