package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

func TestASearchWorksSealed(t *testing.T) {
	s := newPlace(t).start()
	if got := s.search("  how\u3000do we deploy "); !strings.Contains(got, "The answer.") {
		t.Errorf("got %s", got)
	}
	requests := s.provider.Requests()
	if len(requests) != 1 || string(requests[0].Body) != `{"query":"how do we deploy","limit":5}` || requests[0].Header.Get("Authorization") != "Bearer "+s.token {
		t.Errorf("the provider received %+v", requests)
	}
	if s.stderr.Len() > 0 {
		t.Errorf("stderr: %s", s.stderr)
	}
}

// inspected is what the tests look at of `docker inspect`.
type inspected struct {
	Config struct {
		User       string
		Tty        bool
		Entrypoint []string
		Env        []string
	}
	HostConfig struct {
		ReadonlyRootfs bool
		CapDrop        []string
		SecurityOpt    []string
		Privileged     bool
	}
	State struct{ Pid int }
}

func TestTheContainerMayDoNothingButItsWork(t *testing.T) {
	s := newPlace(t).start()
	text := s.ask("inspect", s.id)
	var containers []inspected
	if err := json.Unmarshal([]byte(text), &containers); err != nil || len(containers) != 1 {
		t.Fatal(err)
	}
	c := containers[0]
	if !c.HostConfig.ReadonlyRootfs || c.HostConfig.Privileged || c.Config.Tty || c.Config.User != "65532:65532" ||
		len(c.Config.Entrypoint) != 1 || c.Config.Entrypoint[0] != "/extctx" {
		t.Errorf("got %+v", c)
	}
	if leaks := fakes.Leaks([]string{s.token}, []byte(text)); len(leaks) > 0 {
		t.Error("the credential is in docker inspect")
	}
	status, err := os.ReadFile(filepath.Join("/proc", s.ask("inspect", "--format={{.State.Pid}}", s.id), "status"))
	if err != nil {
		t.Skipf(need.SkipPrefix+"needs the engine's processes on this machine: %v", err)
	}
	for _, want := range []string{"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000",
		"CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(string(status), want+"\n") {
			t.Errorf("the process has not %q:\n%s", want, status)
		}
	}
}

func TestNothingCanBeWrittenInTheContainer(t *testing.T) {
	s := newPlace(t).start()
	s.search("x")
	if changes := s.ask("diff", s.id); changes != "" {
		// The engine makes the directory that files are mounted into.
		for _, change := range strings.Split(changes, "\n") {
			if !strings.HasSuffix(change, "/config") && !strings.Contains(change, "/config/") && !strings.HasPrefix(change[2:], "/dev") && !strings.HasPrefix(change[2:], "/etc") {
				t.Errorf("changed: %s", change)
			}
		}
	}
	// A write attempt fails: the engine itself cannot put a file in.
	if out, err := s.client(t.Context(), "cp", filepath.Join(s.dir, "provider.json"), s.id+":/written").CombinedOutput(); err == nil {
		t.Errorf("a file was written: %s", out)
	}
}

func TestTheImageHoldsOneFile(t *testing.T) {
	p := newPlace(t)
	id := p.ask("create", "--label="+p.label, p.image)
	t.Cleanup(func() { p.ask("rm", "--force", id) })
	archive, err := p.client(t.Context(), "export", id).Output()
	if err != nil {
		t.Fatal(err)
	}
	// What the engine adds to every container: places to mount on.
	engines := map[string]bool{".dockerenv": true, "dev/": true, "etc/": true, "proc/": true, "sys/": true, "dev/console": true, "dev/pts/": true, "dev/shm/": true,
		"etc/hostname": true, "etc/hosts": true, "etc/mtab": true, "etc/resolv.conf": true}
	var ours []string
	for name, mode := range entries(t, bytes.NewReader(archive)) {
		if !engines[name] {
			ours = append(ours, name+" "+mode)
		}
	}
	if len(ours) != 1 || ours[0] != "extctx -r-xr-xr-x 0:0 2000-01-01T00:00:00Z" {
		t.Errorf("the image holds %q", ours)
	}
	if size := p.ask("image", "inspect", "--format={{.Size}}", p.image); len(size) > 7 || size > "9437184" {
		t.Errorf("the image has %s bytes, want at most 9 MiB", size)
	}
}

func TestWithTheLogDriverOffNothingOfASearchIsOnDisk(t *testing.T) {
	for driver, recorded := range map[string]bool{"none": false, "json-file": true} {
		t.Run(driver, func(t *testing.T) {
			p := newPlace(t)
			p.logDriver = driver
			asked, answered := fakes.Canary(), fakes.Canary()
			p.provider.SetItems(fakes.Item{ID: "1", Content: answered})
			s := p.start()
			if got := s.search(asked); !strings.Contains(got, answered) {
				t.Fatalf("got %s", got)
			}
			found := filesWith(t, p.ask("info", "--format={{.DockerRootDir}}"), asked, answered, p.token)
			if recorded != (len(found) > 0) {
				t.Errorf("found in %v, want found: %v", found, recorded)
			}
		})
	}
}

// filesWith returns the files below root that hold one of the canaries.
func filesWith(t *testing.T, root string, canaries ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a container that has just ended
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && len(fakes.Leaks(canaries, content)) > 0 {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Skipf(need.SkipPrefix+"needs to read the engine's directory: run the tests as root: %v", err)
	}
	return found
}

func TestTheContainerIsGoneWithinTwoSeconds(t *testing.T) {
	const limit = 2 * time.Second
	for name, end := range map[string]func(*session){
		"when the client is killed": func(s *session) { _ = s.cmd.Process.Kill() },
		"when stdin ends":           func(s *session) { _ = s.stdin.Close() },
		"on docker stop":            func(s *session) { s.ask("stop", s.id) },
	} {
		t.Run(name+", a request in flight", func(t *testing.T) {
			s := newPlace(t).start()
			s.provider.Behave(fakes.Silence)
			s.askFor("x")
			if err := s.provider.Wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			events := s.untilDestroyed(limit)
			begin := time.Now()
			end(s)
			if !<-events {
				t.Errorf("the container is there %v after %s", time.Since(begin), name)
			}
			if left := s.containers(); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// untilDestroyed reports, once, whether the engine has removed the container
// within limit.
func (s *session) untilDestroyed(limit time.Duration) <-chan bool {
	s.t.Helper()
	events := s.client(s.t.Context(), "events", "--filter=container="+s.id, "--filter=event=destroy", "--format={{.Action}}",
		"--since="+time.Now().Add(-time.Second).Format(time.RFC3339))
	stdout, err := events.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := events.Start(); err != nil {
		s.t.Fatal(err)
	}
	seen := make(chan bool, 2)
	timer := time.AfterFunc(limit, func() { seen <- false; _ = events.Process.Kill() })
	go func() {
		var word [7]byte
		n, _ := stdout.Read(word[:])
		timer.Stop()
		seen <- string(word[:n]) == "destroy"
		_ = events.Process.Kill()
		_ = events.Wait()
	}()
	return seen
}
