// Package mem0client holds the fake Mem0 platform against the official client: a
// fake that satisfies that client is a better fake.
package mem0client

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
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
	key         string
	proxy       *fakes.Proxy
	certificate string
}

func start(t *testing.T) platform {
	t.Helper()
	authority := fakes.StartAuthority(t)
	certificate, err := authority.WritePEM(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key := fakes.Canary()
	fake := fakes.StartMem0(t, key, authority.ServerTLS(t, fakes.Mem0Host))
	return platform{fake, key, fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()}), certificate}
}

// answer is what the script prints.
type answer struct {
	Answer struct{ Results []map[string]any }
	Error  struct{ Name, Code string }
}

// withoutTelemetry is how the client is kept from telling its maker of its use.
const withoutTelemetry = "MEM0_TELEMETRY=false"

// search runs the official client in an environment made from nothing but what
// leads it to the fake, and env.
func (p platform) search(t *testing.T, key, appID, query string, env ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, need.Node(t), "search.mjs", need.NodeModules(t), key, appID, query)
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "NODE_USE_ENV_PROXY=1", "HTTPS_PROXY=" + p.proxy.URL(), "HTTP_PROXY=" + p.proxy.URL(),
		"NODE_EXTRA_CA_CERTS=" + p.certificate}, env...)
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

// searches returns the searches among what the fake received.
func (p platform) searches() []fakes.Request {
	var searches []fakes.Request
	for _, request := range p.Requests() {
		if request.Path == "/v3/memories/search/" {
			searches = append(searches, request)
		}
	}
	return searches
}

// elsewhere returns what the client wanted to reach beside the platform.
func (p platform) elsewhere() []string {
	return slices.DeleteFunc(p.proxy.Asked(), func(asked string) bool { return asked == "CONNECT "+fakes.Mem0Host+":443" })
}

func TestTheOfficialClientSearchesTheFake(t *testing.T) {
	p := start(t)
	p.SetMemories("first", fakes.Memory{ID: "m1", Memory: "Deploys go out at noon.", Score: 0.9, UpdatedAt: "2026-07-23T00:00:00Z"})
	p.SetMemories("second", fakes.Memory{ID: "m2", Memory: "Of another corpus.", Score: 0.8})
	for _, c := range []struct {
		appID string
		want  []map[string]any
	}{
		{"first", []map[string]any{{"id": "m1", "memory": "Deploys go out at noon.", "score": 0.9, "updatedAt": "2026-07-23T00:00:00Z"}}},
		{"second", []map[string]any{{"id": "m2", "memory": "Of another corpus.", "score": 0.8}}},
		{"third", []map[string]any{}},
	} {
		got := p.search(t, p.key, c.appID, "when do we deploy?", withoutTelemetry)
		if diff := cmp.Diff(c.want, got.Answer.Results); diff != "" {
			t.Errorf("in %s the client read something else (%+v): %s", c.appID, got.Error, diff)
		}
	}
	if searches := p.searches(); len(searches) != 3 {
		t.Errorf("the client searched %d times, want 3", len(searches))
	}
}

func TestTheOfficialClientAsksAsTheContractSays(t *testing.T) {
	p := start(t)
	p.search(t, p.key, "first", "when do we deploy?", withoutTelemetry)
	for _, request := range p.Requests() {
		if request.Host != fakes.Mem0Host || request.Header.Get("Authorization") != "Token "+p.key {
			t.Errorf("the client sent %s to %s with %q", request.Path, request.Host, request.Header.Get("Authorization"))
		}
	}
	searches := p.searches()
	if len(searches) != 1 || searches[0].Method != "POST" || searches[0].RawQuery != "" || searches[0].Header.Get("Content-Type") != "application/json" {
		t.Fatalf("the client searched with %+v", searches)
	}
	var body map[string]any
	if err := json.Unmarshal(searches[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "output_format") // which the client adds and the platform's own contract does not ask for
	want := map[string]any{"query": "when do we deploy?", "filters": map[string]any{"app_id": "first"}, "top_k": 5.0, "threshold": 0.1, "rerank": false}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("the client's body differs from the contract's: %s", diff)
	}
}

// The proxy sees all that the client wants to reach, which the client with telemetry
// shows: its maker is asked for, and refused.
func TestNothingButTheFakeIsContactedWithoutTelemetry(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want bool
	}{
		{"without telemetry", []string{withoutTelemetry}, false},
		{"with telemetry", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t)
			if got := p.search(t, p.key, "first", "x", c.env...); got.Error.Name != "" {
				t.Errorf("got %+v", got)
			}
			if elsewhere := p.elsewhere(); (len(elsewhere) > 0) != c.want {
				t.Errorf("the client wanted to reach %v, want something: %v", elsewhere, c.want)
			}
		})
		if t.Failed() {
			return // telemetry is on only behind a proxy that has shown that it is used
		}
	}
}

func TestARefusalIsAnErrorOfTheOfficialClient(t *testing.T) {
	for _, c := range []struct {
		name        string
		behaviour   fakes.Behaviour
		key         string // if not the fake's own
		error, code string
	}{
		{"another key", nil, "fake-other-key", "AuthenticationError", "HTTP_401"},
		{"401 of a search", fakes.When(`"query"`, fakes.Status(401)), "", "AuthenticationError", "HTTP_401"},
		{"429 of a search", fakes.When(`"query"`, fakes.Status(429)), "", "RateLimitError", "HTTP_429"},
		{"no JSON", fakes.When(`"query"`, fakes.Body("<html>")), "", "SyntaxError", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t)
			p.Behave(c.behaviour)
			key := p.key
			if c.key != "" {
				key = c.key
			}
			got := p.search(t, key, "first", "x", withoutTelemetry)
			if got.Error.Name != c.error || got.Error.Code != c.code || got.Answer.Results != nil {
				t.Errorf("got %+v, want %s %s", got, c.error, c.code)
			}
			if searches := p.searches(); len(searches) != 1 {
				t.Errorf("the client searched %d times, want 1", len(searches))
			}
		})
	}
}
