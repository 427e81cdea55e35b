package blackbox

import (
	"net"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

// fault is a way a provider can fail, by what it does.
type fault struct {
	name      string
	behaviour fakes.Behaviour
	// outcome is what probe calls it.
	outcome string
}

// faults are the ways that show at once. The canary stands where a provider might
// repeat what it knows; elsewhere is where redirects lead.
func faults(canary, elsewhere string) []fault {
	list := []fault{
		{"redirect 301", fakes.Redirect(301, elsewhere), "HTTP 3xx"},
		{"redirect 302", fakes.Redirect(302, elsewhere), "HTTP 3xx"},
		{"redirect 303", fakes.Redirect(303, elsewhere), "HTTP 3xx"},
		{"redirect 307", fakes.Redirect(307, elsewhere), "HTTP 3xx"},
		{"redirect 308", fakes.Redirect(308, elsewhere), "HTTP 3xx"},
		{"status 304", fakes.Status(304), "HTTP 3xx"},
		{"status 400", fakes.Status(400), "HTTP 4xx"},
		{"status 401", fakes.Status(401), "HTTP 4xx"},
		{"status 403", fakes.Status(403), "HTTP 4xx"},
		{"status 404", fakes.Status(404), "HTTP 4xx"},
		{"status 429", fakes.Status(429), "HTTP 4xx"},
		{"status 500", fakes.Status(500), "HTTP 5xx"},
		{"status 503", fakes.Status(503), "HTTP 5xx"},
		{"status 101", fakes.SwitchProtocols, "HTTP 1xx"},
		{"status 204", fakes.Status(204), "bad response"},
		{"status 204 with a body", fakes.Raw("HTTP/1.1 204 No Content\r\n\r\n" + canary), "bad response"},
		{"status 304 with a body", fakes.Raw("HTTP/1.1 304 Not Modified\r\n\r\n" + canary), "HTTP 3xx"},
		{"one byte too long, announced", fakes.OverLimit, "bad response"},
		{"one byte too long, in chunks", fakes.OverLimitChunked, "bad response"},
		{"empty body", fakes.Body(""), "bad response"},
		{"not JSON", fakes.Body("<html>" + canary), "bad response"},
		{"JSON cut off", fakes.Body(`{"items":[{"id":"` + canary), "bad response"},
		{"data after JSON", fakes.Body(`{"items":[]} ` + canary), "bad response"},
		{"invalid UTF-8", fakes.Body(`{"items":[{"id":"` + canary + "\xff" + `","content":"c"}]}`), "bad response"},
		{"UTF-16", fakes.Body("\xff\xfe{\x00}\x00"), "bad response"},
		{"two byte order marks", fakes.Body("\ufeff\ufeff" + `{"items":[]}`), "bad response"},
		{"gzip nobody asked for", fakes.Gzip(1000), "bad response"},
		{"gzip that inflates to 100 MB", fakes.Gzip(100_000_000), "bad response"},
		{"no array", fakes.Body(`{"item":"` + canary + `"}`), "bad response"},
		{"array in another case", fakes.Body(`{"Items":[],"Results":[]}`), "bad response"},
		{"array is null", fakes.Body(`{"items":null,"results":null}`), "bad response"},
		{"array is an object", fakes.Body(`{"items":{"id":"` + canary + `"},"results":{}}`), "bad response"},
		{"top is an array", fakes.Body(`[{"id":"` + canary + `","content":"c"}]`), "bad response"},
		{"top is a string", fakes.Body(`"` + canary + `"`), "bad response"},
		{"top is null", fakes.Body(`null`), "bad response"},
		{"nested too deep", fakes.Body(`{"items":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`), "bad response"},
		{"connection reset", fakes.Reset, "transport"},
		{"connection closed", fakes.HangUp, "transport"},
		{"half a body, then reset", fakes.HalfThenReset, "transport"},
		{"half a body, then closed", fakes.HalfThenHangUp, "transport"},
		{"no HTTP at all", fakes.NotHTTP, "transport"},
		{"a header of 2 MB", fakes.HugeHeader(2_000_000), "transport"},
		{"ten thousand early hints", fakes.EarlyHints(10_000), "transport"},
	}
	return list
}

// slowFaults are those that only the deadline ends.
func slowFaults() []fault {
	return []fault{
		{"no answer", fakes.Silence, "timeout"},
		{"half a body, then silence", fakes.HalfThenSilence, "timeout"},
	}
}

const failed = "External context search failed."

func TestEveryProviderFaultIsTheOneText(t *testing.T) {
	secret, asked := fakes.Canary(), fakes.Canary()
	elsewhere := fakes.StartGenericHTTP(t, secret, nil)
	fake := fakes.StartGenericHTTP(t, secret, nil)
	fake.SetItems(fakes.Item{ID: "1", Content: secret})
	canaries := []string{secret, asked, fake.Addr()}
	if n := len(faults("", "")) + len(slowFaults()); n < 25 {
		t.Errorf("only %d faults, want at least 25", n)
	}

	s := start(t, configured(t, genericConfig(fake.URL(), 5*time.Second), secret))
	s.initialize()
	id := 0
	for _, f := range faults(secret, elsewhere.URL()+"/v1/context/search") {
		id++
		fake.Forget()
		fake.Behave(f.behaviour)
		got := s.search(id, `{"query":"`+asked+`"}`)
		if !got.isError || got.text != failed || got.structured != nil {
			t.Errorf("%s: got %+v", f.name, got)
		}
		if fake.Count() != 1 {
			t.Errorf("%s: %d requests, want 1", f.name, fake.Count())
		}
	}
	if elsewhere.Count() != 0 {
		t.Errorf("%d redirects were followed", elsewhere.Count())
	}
	s.silent(canaries...)
	fake.Behave(nil)
	if got := s.search(1000, `{"query":"x"}`); got.isError {
		t.Errorf("a search after all the faults fails: %+v", got)
	}

	quick := start(t, configured(t, genericConfig(fake.URL(), 50*time.Millisecond), secret))
	quick.initialize()
	for _, f := range slowFaults() {
		id++
		fake.Behave(f.behaviour)
		if got := quick.search(id, `{"query":"`+asked+`"}`); !got.isError || got.text != failed {
			t.Errorf("%s: got %+v", f.name, got)
		}
	}
	quick.silent(canaries...)
}

func TestProbeNamesTheClassAndNothingElse(t *testing.T) {
	secret, asked := fakes.Canary(), fakes.Canary()
	fake := fakes.StartGenericHTTP(t, secret, nil)
	fake.SetItems(fakes.Item{ID: "1", Content: secret}, fakes.Item{ID: "2", Content: secret})
	check := func(name string, got outcome, class string, items string, code int) {
		t.Helper()
		lines := strings.Split(got.stdout, "\n")
		if got.code != code || got.stderr != "" || len(lines) != 5 || lines[0] != "provider:     generic-http-search-v1" ||
			lines[1] != "outcome:      "+class || !strings.HasPrefix(lines[2], "milliseconds: ") || lines[3] != "items:        "+items {
			t.Errorf("%s: got %+v, want %s, %s items, exit status %d", name, got, class, items, code)
		}
		if leaks := fakes.Leaks([]string{secret, asked, fake.Addr()}, []byte(got.stdout), []byte(got.stderr)); len(leaks) > 0 {
			t.Errorf("%s: leaked %v", name, leaks)
		}
	}
	env := configured(t, genericConfig(fake.URL(), 5*time.Second), secret)
	check("ok", run(t, env, "probe", asked), "ok", "2", 0)
	for _, f := range faults(secret, fake.URL()) {
		fake.Behave(f.behaviour)
		check(f.name, run(t, env, "probe", asked), f.outcome, "0", 1)
	}
	quick := configured(t, genericConfig(fake.URL(), 50*time.Millisecond), secret)
	for _, f := range slowFaults() {
		fake.Behave(f.behaviour)
		check(f.name, run(t, quick, "probe", asked), f.outcome, "0", 1)
	}
	check("refused", run(t, configured(t, genericConfig("http://"+closedAddress(t), time.Second), secret), "probe", asked), "refused", "0", 1)
	check("DNS", run(t, configured(t, genericConfig("https://nowhere.invalid", 5*time.Second), secret), "probe", asked), "DNS", "0", 1)
	check("TLS", run(t, configured(t, genericConfig("https://"+fake.Addr(), 5*time.Second), secret), "probe", asked), "TLS", "0", 1)
}

// closedAddress is an address of loopback where nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestWhatIsNoFaultIsServed(t *testing.T) {
	s, fake := running(t)
	s.initialize()
	for i, c := range []struct {
		name      string
		behaviour fakes.Behaviour
	}{
		{"a body of exactly 1 MiB, announced", fakes.AtLimit},
		{"a body of exactly 1 MiB, in chunks", fakes.AtLimitChunked},
		{"a byte order mark", fakes.ByteOrderMark},
		{"another content type", fakes.BodyAs(`{"items":[{"id":"1","content":"The answer."}]}`, "Content-Type", "text/html")},
		{"an early hint", fakes.EarlyHints(1)},
		{"bytes after the body", fakes.Raw("HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n" + `{"items":[{"id":"1","content":"The answer."}]}` + "canary")},
		{"status 201", func(e fakes.Exchange) { e.Status = 201; fakes.AtLimit(e) }},
		{"a header of 32 kB", fakes.HugeHeader(32_000)},
	} {
		fake.Behave(c.behaviour)
		if got := s.search(i+1, `{"query":"x"}`); got.isError || !strings.Contains(got.text, "The answer.") {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
	s.silent("canary")
}
