package integration

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

// entries lists a tar archive: mode, owner and time by name.
func entries(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = fmt.Sprintf("%s %d:%d %s", header.FileInfo().Mode(), header.Uid, header.Gid, header.ModTime.UTC().Format(time.RFC3339))
	}
}

func TestABadMountIsOneLineAndStatus78(t *testing.T) {
	const (
		unreadable = "External context config could not be read.\n"
		credential = "Configured external context credential is unavailable.\n"
	)
	chmod := func(name string, mode os.FileMode) func(*place) {
		return func(p *place) {
			if err := os.Chmod(filepath.Join(p.dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	directory := func(name string) func(*place) {
		return func(p *place) {
			path := filepath.Join(p.dir, name)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(*place)
		stderr  string
	}{
		{"a configuration of another user's", chmod("provider.json", 0o600), unreadable},
		{"a configuration everybody writes", chmod("provider.json", 0o666), "External context config: file must not be writable by others.\n"},
		{"a directory for the configuration", directory("provider.json"), unreadable},
		{"a configuration of 65537 bytes", func(p *place) { p.write("provider.json", strings.Repeat(" ", 65537)) }, "External context config: file must be at most 65536 bytes.\n"},
		{"a credential of another user's", chmod("credential", 0o600), credential},
		{"a credential everybody writes", chmod("credential", 0o666), credential},
		{"a directory for the credential", directory("credential"), credential},
		{"a credential of 8 KiB and a byte", func(p *place) { p.write("credential", strings.Repeat("k", 8193)) }, credential},
		{"nothing wrong", func(*place) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			c.prepare(p)
			code := 78
			if c.stderr == "" {
				code = 0
			}
			if got := p.end(nil, "mcp"); got != (outcome{"", c.stderr, code}) {
				t.Errorf("got %+v, want %q and status %d", got, c.stderr, code)
			}
		})
	}
}

func TestATerminalIsRefusedInALine(t *testing.T) {
	p := newPlace(t)
	args := p.run([]string{"--tty"}, "mcp")
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-i" }) // the client has no terminal to pass on
	out, err := p.client(t.Context(), args...).Output()
	const want = "extctx mcp is started by an MCP client with pipes, not from a terminal. To try it: extctx probe\r\n"
	if string(out) != want || err == nil {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestAnImageThatIsNotThereIsAnErrorAndNoDownload(t *testing.T) {
	for name, image := range map[string]string{
		"another id":     "sha256:" + strings.Repeat("0", 64),
		"another digest": "external-context@sha256:" + strings.Repeat("0", 64),
	} {
		p := newPlace(t)
		p.image = image
		if got := p.end(nil, "mcp"); got.code != 125 || got.stdout != "" || !strings.Contains(got.stderr, "No such image") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestAnEngineThatIsStoppedIsAnError(t *testing.T) {
	p := newPlace(t)
	if got := p.client(t.Context(), append([]string{"--host=unix:///var/run/external-context-none.sock"}, p.run(nil, "mcp")...)...); got.Run() == nil {
		t.Error("a stopped engine is no error")
	}
}

func TestMem0IsReachedOverTLSThroughAnEgressProxyWithAMountedAuthority(t *testing.T) {
	p := newPlace(t)
	authority := fakes.StartAuthority(t)
	fake := fakes.StartMem0(t, p.token, authority.ServerTLS(t, fakes.Mem0Host))
	fake.SetMemories("repository-memory", fakes.Memory{ID: "m", Memory: "The memory."})
	proxy := fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()})
	p.write("provider.json", `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"TOKEN","appId":"repository-memory"}}`)
	p.write("authority.pem", string(authority.PEM()))
	mounted := []string{"--mount=type=bind,src=" + filepath.Join(p.dir, "authority.pem") + ",dst=/config/authority.pem,readonly",
		"--env=SSL_CERT_FILE=/config/authority.pem", "--env=HTTPS_PROXY=" + proxy.URL()}
	if got := p.start(mounted...).search("x"); !strings.Contains(got, "The memory.") {
		t.Errorf("got %s", got)
	}
	if asked := proxy.Asked(); len(asked) != 1 || asked[0] != "CONNECT api.mem0.ai:443" {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

func TestProbeAndVersionRunSealed(t *testing.T) {
	p := newPlace(t)
	if got := p.end(nil, "probe", "x"); got.code != 0 || !strings.Contains(got.stdout, "outcome:      ok\n") || got.stderr != "" {
		t.Errorf("probe: %+v", got)
	}
	p.network = "none"
	if got := p.end(nil, "version"); got.code != 0 || !strings.HasPrefix(got.stdout, "extctx ") {
		t.Errorf("version: %+v", got)
	}
}
