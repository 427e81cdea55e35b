// Package mem0client holds the fake Mem0 platform against the official client: a
// fake that satisfies that client is a better fake.
package mem0client

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
	"github.com/google/go-cmp/cmp"
)

// platform is a fake Mem0 at the platform's own name, over TLS, behind a proxy that
// reaches nothing else.
type platform struct {
	*fakes.Mem0
	proxy       *fakes.Proxy
	certificate string
}

func start(t *testing.T, key string) platform {
	t.Helper()
	authority := fakes.StartAuthority(t)
	certificate, err := authority.WritePEM(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake := fakes.StartMem0(t, key, authority.ServerTLS(t, fakes.Mem0Host))
	return platform{fake, fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()}), certificate}
}

// answer is what the script prints.
type answer struct {
	Answer struct{ Results []map[string]any }
	Error  string
}

// search runs the official client in an environment made from nothing.
func (p platform) search(t *testing.T, key, appID, query string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, need.Node(t), "search.mjs", need.NodeModules(t), key, appID, query)
	cmd.Env = []string{"HOME=" + t.TempDir(), "NODE_USE_ENV_PROXY=1", "HTTPS_PROXY=" + p.proxy.URL(), "HTTP_PROXY=" + p.proxy.URL(),
		"NODE_EXTRA_CA_CERTS=" + p.certificate, "MEM0_TELEMETRY=false"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a
}

func TestTheOfficialClientSearchesTheFake(t *testing.T) {
	key := fakes.Canary()
	p := start(t, key)
	p.SetMemories("first", fakes.Memory{ID: "m1", Memory: "Deploys go out at noon.", Score: 0.9, UpdatedAt: "2026-07-23T00:00:00Z"})
	p.SetMemories("second", fakes.Memory{ID: "m2", Memory: "Of another corpus.", Score: 0.8})

	got := p.search(t, key, "first", "when do we deploy?")
	want := []map[string]any{{"id": "m1", "memory": "Deploys go out at noon.", "score": 0.9, "updatedAt": "2026-07-23T00:00:00Z"}}
	if diff := cmp.Diff(want, got.Answer.Results); diff != "" {
		t.Errorf("the client read something else (%s): %s", got.Error, diff)
	}
	for _, target := range p.proxy.Asked() {
		if target != "CONNECT api.mem0.ai:443" {
			t.Errorf("the client wanted to reach %s", target)
		}
	}
	searches := 0
	for _, request := range p.Requests() {
		if request.Host != fakes.Mem0Host || request.Header.Get("Authorization") != "Token "+key {
			t.Errorf("the client sent %s to %s with %q", request.Path, request.Host, request.Header.Get("Authorization"))
		}
		if request.Path != "/v3/memories/search/" {
			continue
		}
		searches++
		var body map[string]any
		if err := json.Unmarshal(request.Body, &body); err != nil {
			t.Fatal(err)
		}
		delete(body, "output_format") // which the client adds and the platform's own contract does not ask for
		want := map[string]any{"query": "when do we deploy?", "filters": map[string]any{"app_id": "first"}, "top_k": 5.0, "threshold": 0.1, "rerank": false}
		if diff := cmp.Diff(want, body); diff != "" {
			t.Errorf("the client's body differs from the contract's: %s", diff)
		}
	}
	if searches != 1 {
		t.Errorf("the client searched %d times", searches)
	}
}

func TestTheOfficialClientIsRefusedWithAnotherKey(t *testing.T) {
	p := start(t, fakes.Canary())
	if got := p.search(t, "fake-other-key", "first", "x"); !strings.HasSuffix(got.Error, "Error") {
		t.Errorf("got %+v, want an error", got)
	}
}
