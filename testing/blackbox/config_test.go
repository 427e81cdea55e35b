package blackbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/configcases"
	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

func TestEachConfigurationFaultIsItsLineAndStatus78(t *testing.T) {
	if n := len(configcases.Rejected()); n < 60 {
		t.Errorf("only %d configurations, want at least 60", n)
	}
	for _, c := range configcases.Rejected() {
		for _, args := range [][]string{{"mcp"}, {"probe", "x"}} {
			canary := fakes.Canary()
			got := run(t, configured(t, c.With(canary), canary), args...)
			if got.code != 78 || got.stdout != "" || got.stderr != c.Line+"\n" {
				t.Errorf("%s: %v: got %+v, want status 78 and %s", c.Name, args, got, c.Line)
			}
			if leaks := fakes.Leaks([]string{canary}, []byte(got.stdout), []byte(got.stderr)); len(leaks) > 0 {
				t.Errorf("%s: %v: leaked: %+v", c.Name, args, got)
			}
		}
	}
}

func TestStartFaultsOutsideTheConfiguration(t *testing.T) {
	secret := fakes.Canary()
	good := configured(t, genericConfig("https://"+secret+".example", time.Second), secret)
	version2 := writeFile(t, `{"version":2,"autoRecall":{"repositoryRoot":"/`+secret+`"},"provider":{"type":"mem0-platform-v3","apiKeyEnv":"TOKEN","appId":"a"}}`)
	noCertificate := writeFile(t, "no certificate "+secret)
	const (
		credential = "Configured external context credential is unavailable."
		opaque     = "External context failed to start."
	)
	for _, c := range []struct {
		name string
		env  environment
		line string
	}{
		{"no variable", environment{"TOKEN": secret}, "QWEN_EXTERNAL_CONTEXT_CONFIG must name an absolute file path."},
		{"relative path", good.with(environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": secret}), "QWEN_EXTERNAL_CONTEXT_CONFIG must name an absolute file path."},
		{"missing file", good.with(environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": "/" + secret}), "External context config could not be read."},
		{"a directory", good.with(environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": t.TempDir()}), "External context config could not be read."},
		{"empty credential", good.with(environment{"TOKEN": ""}), credential},
		{"credential with a control character", good.with(environment{"TOKEN": secret + "\n"}), credential},
		{"credential given twice", good.with(environment{"TOKEN_FILE": writeFile(t, secret)}), credential},
		{"version 2", good.with(environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": version2}), "External context MCP requires a version 1 configuration."},
		{"authorities that are not there", good.with(environment{"SSL_CERT_FILE": "/" + secret}), opaque},
		{"authorities that are none", good.with(environment{"SSL_CERT_FILE": noCertificate}), opaque},
		{"authorities that are a device", good.with(environment{"SSL_CERT_FILE": "/dev/zero"}), opaque},
		{"a directory of authorities without any", good.with(environment{"SSL_CERT_DIR": filepath.Dir(noCertificate)}), opaque},
		{"a proxy of no kind", good.with(environment{"HTTPS_PROXY": "gopher://" + secret}), opaque},
		{"a proxy that is no URL", good.with(environment{"https_proxy": "http://[" + secret}), opaque},
		{"a proxy without a host", good.with(environment{"HTTP_PROXY": "http://"}), opaque},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.env, "mcp")
			if got.code != 78 || got.stdout != "" || got.stderr != c.line+"\n" {
				t.Errorf("got %+v, want status 78 and %s", got, c.line)
			}
			if leaks := fakes.Leaks([]string{secret}, []byte(got.stderr)); len(leaks) > 0 {
				t.Errorf("leaked: %+v", got)
			}
		})
	}
	if got := run(t, good, "mcp"); got.code != 0 || got.stderr != "" {
		t.Errorf("the control, with nothing wrong, gives %+v", got)
	}
}

func TestCommandLine(t *testing.T) {
	canary := fakes.Canary()
	const usage = "usage: extctx mcp | extctx probe \"query\" | extctx version\n"
	for _, args := range [][]string{{}, {canary}, {"--" + canary}, {"mcp", canary}, {"mcp", ""}, {"probe"}, {"probe", canary, canary}, {"version", canary}, {"--help"}} {
		if got := run(t, environment{}, args...); got != (outcome{"", usage, 64}) {
			t.Errorf("%q: got %+v, want the usage and status 64", args, got)
		}
	}
	if got := run(t, environment{}, "probe", " "); got.code != 64 || got.stdout != "" || got.stderr == usage {
		t.Errorf("an empty query to probe gives %+v", got)
	}
	got := run(t, environment{}, "version")
	if got.code != 0 || got.stderr != "" || got.stdout[:7] != "extctx " {
		t.Errorf("version gives %+v", got)
	}
}

func TestTheCredentialMayComeFromAFile(t *testing.T) {
	secret := fakes.Canary()
	fake := fakes.StartGenericHTTP(t, secret, nil)
	env := configured(t, genericConfig(fake.URL(), 5*time.Second), "")
	delete(env, "TOKEN")
	env["TOKEN_FILE"] = writeFile(t, secret+"\n")
	if got := run(t, env, "probe", "x"); got.code != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestAFileTheProcessMayNotReadIsALineToo(t *testing.T) {
	secret := fakes.Canary()
	readable := configured(t, genericConfig("https://context.example.com", time.Second), secret)
	unreadable := writeFile(t, "{}")
	if err := os.Chmod(unreadable, 0); err != nil {
		t.Fatal(err)
	}
	config := readable.with(environment{"QWEN_EXTERNAL_CONTEXT_CONFIG": unreadable})
	credential := readable.with(environment{"TOKEN_FILE": unreadable})
	delete(credential, "TOKEN")
	for want, env := range map[string]environment{
		"": readable,
		"External context config could not be read.\n":             config,
		"Configured external context credential is unavailable.\n": credential,
	} {
		cmd := exec.Command(extctx(t), "mcp")
		cmd.Env = env.list()
		if os.Geteuid() == 0 { // root reads every file, so be somebody else
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if stderr.String() != want || (err == nil) != (want == "") {
			t.Errorf("got %q, %v, want %q", stderr.String(), err, want)
		}
	}
}

func TestNoFileIsOpenForWriting(t *testing.T) {
	s, _ := running(t)
	s.initialize()
	s.search(1, `{"query":"x"}`)
	process := filepath.Join("/proc", itoa(s.cmd.Process.Pid))
	descriptors, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		t.Skip(need.SkipPrefix + "needs /proc: run the tests on Linux")
	}
	for _, descriptor := range descriptors {
		target, err := os.Readlink(filepath.Join(process, "fd", descriptor.Name()))
		if err != nil || !filepath.IsAbs(target) || target == os.DevNull {
			continue // a pipe, a socket, or closed meanwhile
		}
		info, err := os.ReadFile(filepath.Join(process, "fdinfo", descriptor.Name()))
		if err != nil {
			continue
		}
		var position, flags int
		if _, err := fmt.Sscanf(string(info), "pos:\t%d\nflags:\t%o", &position, &flags); err != nil || flags&syscall.O_ACCMODE != syscall.O_RDONLY {
			t.Errorf("descriptor %s is open for writing on %s (%v)", descriptor.Name(), target, err)
		}
	}
}
