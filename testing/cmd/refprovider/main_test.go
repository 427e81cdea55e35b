package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/need"
)

// waitLimit is how long the program may take for anything.
const waitLimit = 10 * time.Second

// runFailing runs a command line that must fail before it listens.
func runFailing(t *testing.T, env map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, complaint strings.Builder
	p := process{lookup: from(env), stdout: &out, stderr: &complaint}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	status = p.run(ctx, args)
	if ctx.Err() != nil {
		t.Fatal("the program served instead of failing")
	}
	return status, out.String(), complaint.String()
}

func from(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

func TestHelpIsOnStdout(t *testing.T) {
	for _, flag := range []string{"-help", "--help", "-h"} {
		status, stdout, stderr := runFailing(t, nil, flag)
		if status != exitOK || stdout != usage || stderr != "" {
			t.Errorf("%s: status %d, stderr %q", flag, status, stderr)
		}
	}
}

func TestEachFaultIsOneLineAndAStatus(t *testing.T) {
	const sample = "../../sample"
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	canary := rand.Text()
	withToken := map[string]string{tokenVariable: canary}
	for name, test := range map[string]struct {
		env    map[string]string
		args   []string
		status int
		says   string
	}{
		"no folder":                        {nil, nil, exitUsage, "wrong command line"},
		"two folders":                      {nil, []string{sample, sample}, exitUsage, "wrong command line"},
		"an unknown flag":                  {nil, []string{"-token", canary, sample}, exitUsage, "wrong command line"},
		"a missing folder":                 {withToken, []string{filepath.Join(dir, "missing")}, exitFailed, "cannot be opened"},
		"an empty folder":                  {withToken, []string{empty}, exitFailed, "no Markdown"},
		"every interface":                  {withToken, []string{"-listen", ":0", sample}, exitFailed, "loopback"},
		"another machine":                  {withToken, []string{"-listen", "192.0.2.1:0", sample}, exitFailed, "loopback"},
		"an empty token":                   {map[string]string{tokenVariable: ""}, []string{sample}, exitFailed, "visible ASCII"},
		"a token with a blank":             {map[string]string{tokenVariable: canary + " x"}, []string{sample}, exitFailed, "visible ASCII"},
		"two tokens":                       {withToken, []string{"-token-file", write("t", canary), sample}, exitFailed, "choose one"},
		"an empty token file":              {nil, []string{"-token-file", write("e", "\n"), sample}, exitFailed, "visible ASCII"},
		"a token of two lines":             {nil, []string{"-token-file", write("two", canary+"\nx\n"), sample}, exitFailed, "visible ASCII"},
		"a token file that is a directory": {nil, []string{"-token-file", dir, sample}, exitFailed, "not a regular file"},
		"a token too long": {nil, []string{"-token-file", write("long", strings.Repeat("x", maxToken+1)), sample},
			exitFailed, "visible ASCII"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := runFailing(t, test.env, test.args...)
			if status != test.status || stdout != "" || !strings.Contains(stderr, test.says) {
				t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
			}
			if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "refprovider: ") {
				t.Errorf("stderr is not one line: %q", stderr)
			}
			if strings.Contains(stderr, canary) {
				t.Error("the token is on stderr")
			}
		})
	}
}

func TestTheTokenComesFromOnePlace(t *testing.T) {
	longest := strings.Repeat("x", maxToken)
	file := filepath.Join(t.TempDir(), "token")
	made, err := findToken(from(nil), file)
	if err != nil || made.value == "" || strings.Contains(made.origin, made.value) {
		t.Fatalf("making a token file: %v, origin %q", err, made.origin)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file: %v, %v", info.Mode(), err)
	}
	if again, err := findToken(from(nil), file); err != nil || again.value != made.value {
		t.Errorf("the file's token is not found again: %v", err)
	}
	if err := os.WriteFile(file, []byte(longest+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := findToken(from(nil), file); err != nil || got.value != longest {
		t.Errorf("the longest token is refused: %v", err)
	}
	got, err := findToken(from(map[string]string{tokenVariable: made.value}), "")
	if err != nil || got.value != made.value || strings.Contains(got.origin, made.value) {
		t.Errorf("from the environment: %v, origin %q", err, got.origin)
	}
	new, err := findToken(from(nil), "")
	if err != nil || new.value == made.value || !strings.Contains(new.origin, new.value) {
		t.Errorf("a new token: %v; it must be printed, there is no other way to learn it", err)
	}
}

func TestItServesUntilASignal(t *testing.T) {
	var build need.Build
	defer build.Close()
	program := build.Program(t, "testing/cmd/refprovider")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
			defer cancel()
			token := rand.Text()
			command := exec.CommandContext(ctx, program, "-listen", "127.0.0.1:0", "../../sample")
			command.Env = []string{tokenVariable + "=" + token}
			var stderr strings.Builder
			command.Stderr = &stderr
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			first, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			url := strings.TrimSpace(strings.TrimPrefix(first, "Generic HTTP Search V1 on "))
			if answer := search(t, url, token); !strings.Contains(answer, "deploy.md#rolling-back") {
				t.Errorf("answer %s", answer)
			}
			if err := command.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := command.Wait(); err != nil || stderr.String() != "" {
				t.Errorf("after %v: %v, stderr %q", sig, err, stderr.String())
			}
		})
	}
}

func search(t *testing.T, url, token string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"query":"roll back a deploy","limit":1}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
