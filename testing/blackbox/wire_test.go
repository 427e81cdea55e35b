package blackbox

import (
	"crypto/tls"
	"sort"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

// wire is a request as it is compared with a golden file: everything that left.
type wire struct {
	Line   string   `json:"line"`
	Host   string   `json:"host"`
	Header []string `json:"header"`
	Body   string   `json:"body"`
}

func wireOf(request fakes.Request, masks ...string) wire {
	mask := strings.NewReplacer(masks...)
	w := wire{Line: request.Method + " " + request.Path + " " + request.Proto, Host: mask.Replace(request.Host), Body: string(request.Body)}
	for name, values := range request.Header {
		w.Header = append(w.Header, mask.Replace(name+": "+strings.Join(values, " | ")))
	}
	sort.Strings(w.Header)
	return w
}

func TestGenericHTTPRequestIsExactly(t *testing.T) {
	secret := fakes.Canary()
	fake := fakes.StartGenericHTTP(t, secret, nil)
	s := start(t, configured(t, genericConfig(fake.URL()+"/", 5*time.Second), secret))
	s.initialize()
	s.search(1, `{"query":"  how do\n\"we\" <deploy>&日本  "}`)
	golden(t, "generic_http_request.json", wireOf(fake.Requests()[0], secret, "TOKEN", fake.Addr(), "HOST"))
}

// mem0 is a session against a fake Mem0 that is reached as the real one would be:
// by its name, over TLS, through a proxy.
type mem0 struct {
	*session
	fake  *fakes.Mem0
	proxy *fakes.Proxy
}

func startMem0(t *testing.T, secret string, serve func(*fakes.Authority) *tls.Config, env environment) mem0 {
	t.Helper()
	authority := fakes.StartAuthority(t)
	certificate, err := authority.WritePEM(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake := fakes.StartMem0(t, secret, serve(authority))
	fake.SetMemories("repository-memory", fakes.Memory{ID: "m1", Memory: "The memory.", Score: 0.9, UpdatedAt: "2026-07-23T00:00:00Z"})
	proxy := fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()})
	all := configured(t, mem0Config("repository-memory", 5*time.Second), secret).
		with(environment{"SSL_CERT_FILE": certificate, "HTTPS_PROXY": proxy.URL()}).with(env)
	s := start(t, all)
	s.initialize()
	return mem0{s, fake, proxy}
}

// serving returns the TLS configuration for the Mem0 host, changed by edit.
func serving(t *testing.T, edit func(*tls.Config)) func(*fakes.Authority) *tls.Config {
	return func(authority *fakes.Authority) *tls.Config {
		config := authority.ServerTLS(t, fakes.Mem0Host)
		edit(config)
		return config
	}
}

func unchanged(*tls.Config) {}

func TestMem0RequestIsExactly(t *testing.T) {
	secret := fakes.Canary()
	m := startMem0(t, secret, serving(t, unchanged), nil)
	got := m.search(1, `{"query":" what do  we know? "}`)
	const want = `"items":[{"id":"m1","content":"The memory.","score":0.9,"updatedAt":"2026-07-23T00:00:00Z"}]}}`
	if got.isError || !strings.HasSuffix(got.text, want) {
		t.Errorf("got %+v", got)
	}
	golden(t, "mem0_request.json", wireOf(m.fake.Requests()[0], secret, "TOKEN"))
	if asked := m.proxy.Asked(); len(asked) != 1 || asked[0] != "CONNECT api.mem0.ai:443" {
		t.Errorf("the proxy was asked for %v", asked)
	}
	m.silent(secret)
}

func TestMem0FaultsAreTheOneText(t *testing.T) {
	secret, asked := fakes.Canary(), fakes.Canary()
	m := startMem0(t, secret, serving(t, unchanged), nil)
	for i, f := range faults(secret, "https://"+fakes.Mem0Host+"/v3/memories/search/") {
		m.fake.Forget()
		m.fake.Behave(f.behaviour)
		if got := m.search(i+1, `{"query":"`+asked+`"}`); !got.isError || got.text != failed {
			t.Errorf("%s: got %+v", f.name, got)
		}
		if m.fake.Count() != 1 {
			t.Errorf("%s: %d requests, want 1", f.name, m.fake.Count())
		}
	}
	m.silent(secret, asked, "api.mem0.ai", "mem0")
}

func TestOnlyAVerifiedModernTLSServerGetsTheRequest(t *testing.T) {
	other := fakes.StartAuthority(t)
	for _, c := range []struct {
		name   string
		serve  func(*fakes.Authority) *tls.Config
		served bool
	}{
		{"TLS 1.3", serving(t, func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }), true},
		{"TLS 1.2", serving(t, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), true},
		{"TLS 1.1", serving(t, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), false},
		{"another authority", func(*fakes.Authority) *tls.Config { return other.ServerTLS(t, fakes.Mem0Host) }, false},
		{"another name", func(a *fakes.Authority) *tls.Config { return a.ServerTLS(t, "mem0.ai", "127.0.0.1") }, false},
		{"an expired certificate", func(a *fakes.Authority) *tls.Config {
			config, err := a.ServeUntil(time.Now().Add(-time.Minute), fakes.Mem0Host)
			if err != nil {
				t.Fatal(err)
			}
			return config
		}, false},
		{"no TLS", func(*fakes.Authority) *tls.Config { return nil }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := startMem0(t, "fake-key", c.serve, nil)
			got := m.search(1, `{"query":"x"}`)
			if got.isError == c.served || (m.fake.Count() == 1) != c.served {
				t.Errorf("got %+v after %d requests", got, m.fake.Count())
			}
			m.silent()
		})
	}
}

func TestAuthoritiesOfTheEnvironmentReplaceTheBuiltIn(t *testing.T) {
	t.Run("without them the test authority is unknown", func(t *testing.T) {
		m := startMem0(t, "fake-key", serving(t, unchanged), environment{"SSL_CERT_FILE": ""})
		if got := m.search(1, `{"query":"x"}`); !got.isError || m.fake.Count() != 0 {
			t.Errorf("got %+v after %d requests", got, m.fake.Count())
		}
	})
	t.Run("from a directory", func(t *testing.T) {
		directory := t.TempDir()
		m := startMem0(t, "fake-key", func(a *fakes.Authority) *tls.Config {
			if _, err := a.WritePEM(directory); err != nil {
				t.Fatal(err)
			}
			return a.ServerTLS(t, fakes.Mem0Host)
		}, environment{"SSL_CERT_FILE": "", "SSL_CERT_DIR": "/does/not/exist:" + directory})
		if got := m.search(1, `{"query":"x"}`); got.isError {
			t.Errorf("got %+v", got)
		}
	})
}

func TestProxySettings(t *testing.T) {
	secret := fakes.Canary()
	t.Run("a proxy that wants credentials gets those of its URL", func(t *testing.T) {
		authority := fakes.StartAuthority(t)
		certificate, err := authority.WritePEM(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		fake := fakes.StartMem0(t, secret, authority.ServerTLS(t, fakes.Mem0Host))
		proxy := fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()})
		proxy.Authorization = "Basic dXNlcjpwYXNz" // user:pass
		env := configured(t, mem0Config("a", 5*time.Second), secret).with(environment{"SSL_CERT_FILE": certificate})
		if got := run(t, env.with(environment{"https_proxy": strings.Replace(proxy.URL(), "://", "://user:pass@", 1)}), "probe", "x"); got.code != 0 {
			t.Errorf("with credentials: %+v", got)
		}
		if got := run(t, env.with(environment{"https_proxy": proxy.URL()}), "probe", "x"); !strings.Contains(got.stdout, "outcome:      proxy\n") {
			t.Errorf("without: %+v", got)
		}
		for _, request := range fake.Requests() {
			if request.Header.Get("Proxy-Authorization") != "" {
				t.Error("the proxy's credentials reached the provider")
			}
		}
	})
	t.Run("a proxy that is not there is a proxy failure", func(t *testing.T) {
		env := configured(t, mem0Config("a", 5*time.Second), secret).with(environment{"HTTPS_PROXY": "http://" + closedAddress(t)})
		if got := run(t, env, "probe", "x"); !strings.Contains(got.stdout, "outcome:      proxy\n") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("loopback is never proxied", func(t *testing.T) {
		fake := fakes.StartGenericHTTP(t, secret, nil)
		proxy := fakes.StartProxy(t, nil)
		_, port, _ := strings.Cut(fake.Addr(), ":")
		for _, host := range []string{"127.0.0.1", "localhost"} {
			env := configured(t, genericConfig("http://"+host+":"+port, 5*time.Second), secret).
				with(environment{"HTTP_PROXY": proxy.URL(), "HTTPS_PROXY": proxy.URL(), "http_proxy": proxy.URL(), "https_proxy": proxy.URL()})
			if got := run(t, env, "probe", "x"); got.code != 0 {
				t.Errorf("%s: %+v", host, got)
			}
		}
		if asked := proxy.Asked(); len(asked) != 0 {
			t.Errorf("the proxy was asked for %v", asked)
		}
	})
	t.Run("NO_PROXY goes around the proxy", func(t *testing.T) {
		proxy := fakes.StartProxy(t, nil)
		env := configured(t, genericConfig("https://nowhere.invalid", 5*time.Second), secret).with(environment{"HTTPS_PROXY": proxy.URL(), "no_proxy": ".invalid"})
		if got := run(t, env, "probe", "x"); !strings.Contains(got.stdout, "outcome:      DNS\n") || len(proxy.Asked()) != 0 {
			t.Errorf("got %+v, proxy asked for %v", got, proxy.Asked())
		}
	})
}

func TestARequestCarriesNothingOver(t *testing.T) {
	s, fake := running(t)
	fake.Behave(fakes.SetCookie("session=canary"))
	s.initialize()
	const searches = 10
	for id := range searches {
		s.search(id+1, `{"query":"x"}`)
	}
	for _, request := range fake.Requests() {
		if request.Header.Get("Cookie") != "" || request.Header.Get("Accept-Encoding") != "" || request.Proto != "HTTP/1.1" {
			t.Errorf("the request has more than it should: %v %v", request.Proto, request.Header)
		}
	}
	if fake.Count() != searches {
		t.Errorf("%d requests for %d searches", fake.Count(), searches)
	}
}

func TestARequestThatDiesOnAReusedConnectionIsNotSentAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		dies fakes.Behaviour
	}{
		{"reset", fakes.Reset},
		{"closed", fakes.HangUp},
		{"reset after half an answer", fakes.HalfThenReset},
		{"closed after half an answer", fakes.HalfThenHangUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, fake := running(t)
			s.initialize()
			s.search(1, `{"query":"first"}`)
			fake.Behave(c.dies)
			if got := s.search(2, `{"query":"second"}`); !got.isError || got.text != failed {
				t.Errorf("got %+v", got)
			}
			requests := fake.Requests()
			if len(requests) != 2 || requests[0].Connection != requests[1].Connection {
				t.Errorf("%d requests for 2 searches; want them on one connection: %v", len(requests), requests)
			}
			fake.Behave(nil)
			if got := s.search(3, `{"query":"third"}`); got.isError || fake.Count() != 3 {
				t.Errorf("the next search: %+v after %d requests", got, fake.Count())
			}
		})
	}
}

func TestTwoCorporaNeverMix(t *testing.T) {
	secret := fakes.Canary()
	authority := fakes.StartAuthority(t)
	certificate, err := authority.WritePEM(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake := fakes.StartMem0(t, secret, authority.ServerTLS(t, fakes.Mem0Host))
	proxy := fakes.StartProxy(t, map[string]string{fakes.Mem0Host + ":443": fake.Addr()})
	sessions := map[string]*session{}
	for _, app := range []string{"first", "second"} {
		fake.SetMemories(app, fakes.Memory{ID: "m", Memory: "from " + app})
		sessions[app] = start(t, configured(t, mem0Config(app, 5*time.Second), secret).
			with(environment{"SSL_CERT_FILE": certificate, "HTTPS_PROXY": proxy.URL()}))
		sessions[app].initialize()
	}
	for id := range 5 {
		for app, s := range sessions {
			if got := s.search(id+1, `{"query":"x"}`); !strings.Contains(got.text, "from "+app) {
				t.Errorf("%s got %s", app, got.text)
			}
		}
	}
}
