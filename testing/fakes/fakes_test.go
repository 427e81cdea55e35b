package fakes_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

const token = "fake-token"

// plain is a client without the product's care: no proxy, no redirect followed.
func plain() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func newRequest(t *testing.T, ctx context.Context, target string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(`{"query":"x","limit":5}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return request
}

func started(t *testing.T) *fakes.GenericHTTP {
	t.Helper()
	fake := fakes.StartGenericHTTP(t, token, nil)
	fake.SetItems(fakes.Item{ID: "1", Content: "c"})
	return fake
}

// got is an answer read to its end.
type got struct {
	status  int
	header  http.Header
	length  int64 // as announced
	body    []byte
	err     error
	bodyErr error
}

func send(t *testing.T, request *http.Request) got {
	t.Helper()
	response, err := plain().Do(request)
	if err != nil {
		return got{err: err}
	}
	defer response.Body.Close()
	body, bodyErr := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header, response.ContentLength, body, nil, bodyErr}
}

const good = `{"items":[{"id":"1","content":"c"}]}`

func TestEachBehaviourDoesWhatItsNameSays(t *testing.T) {
	const mebibyte = 1048576
	for _, c := range []struct {
		name      string
		behaviour fakes.Behaviour
		holds     func(got) bool
	}{
		{"as it should", nil, func(g got) bool { return g.status == 200 && string(g.body) == good }},
		{"Status", fakes.Status(503), func(g got) bool { return g.status == 503 && bytes.Contains(g.body, []byte(token)) }},
		{"Redirect", fakes.Redirect(307, "http://127.0.0.1/x"), func(g got) bool { return g.status == 307 && g.header.Get("Location") == "http://127.0.0.1/x" }},
		{"Body", fakes.Body("[]"), func(g got) bool { return string(g.body) == "[]" && g.length == 2 }},
		{"BodyAs", fakes.BodyAs("[]", "Content-Type", "text/html"), func(g got) bool { return g.header.Get("Content-Type") == "text/html" }},
		{"AtLimit", fakes.AtLimit, func(g got) bool { return len(g.body) == mebibyte && g.length == mebibyte }},
		{"AtLimitChunked", fakes.AtLimitChunked, func(g got) bool { return len(g.body) == mebibyte && g.length == -1 }},
		{"OverLimit", fakes.OverLimit, func(g got) bool { return len(g.body) == mebibyte+1 && g.length == mebibyte+1 }},
		{"OverLimitChunked", fakes.OverLimitChunked, func(g got) bool { return len(g.body) == mebibyte+1 && g.length == -1 }},
		{"ByteOrderMark", fakes.ByteOrderMark, func(g got) bool { return string(g.body) == "\ufeff"+good }},
		{"Gzip", fakes.Gzip(1_000_000), func(g got) bool {
			return g.header.Get("Content-Encoding") == "gzip" && len(g.body) < 10_000 && bytes.HasPrefix(g.body, []byte("\x1f\x8b"))
		}},
		{"SetCookie", fakes.SetCookie("a=b"), func(g got) bool { return g.header.Get("Set-Cookie") == "a=b" }},
		{"HugeHeader", fakes.HugeHeader(100_000), func(g got) bool { return len(g.header.Get("X-Huge")) == 100_000 }},
		{"Reset", fakes.Reset, func(g got) bool { return errors.Is(g.err, syscall.ECONNRESET) }},
		{"HangUp", fakes.HangUp, func(g got) bool { return errors.Is(g.err, io.EOF) }},
		{"NotHTTP", fakes.NotHTTP, func(g got) bool { return g.err != nil && strings.Contains(g.err.Error(), "malformed HTTP") }},
		{"SwitchProtocols", fakes.SwitchProtocols, func(g got) bool { return g.status == 101 }},
		{"HalfThenReset", fakes.HalfThenReset, func(g got) bool { return g.bodyErr != nil || errors.Is(g.err, syscall.ECONNRESET) }},
		{"HalfThenHangUp", fakes.HalfThenHangUp, func(g got) bool {
			return errors.Is(g.bodyErr, io.ErrUnexpectedEOF) && string(g.body) == good[:len(good)/2]
		}},
		{"When another text", fakes.When("other", fakes.Status(500)), func(g got) bool { return g.status == 200 }},
		{"When this text", fakes.When(`"query":"x"`, fakes.Status(500)), func(g got) bool { return g.status == 500 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := started(t)
			fake.Behave(c.behaviour)
			if g := send(t, newRequest(t, t.Context(), fake.URL()+"/v1/context/search")); !c.holds(g) {
				t.Errorf("got %d, %v, length %d, %d bytes %.100q, %v, %v", g.status, g.header, g.length, len(g.body), g.body, g.err, g.bodyErr)
			}
		})
	}
}

func TestEarlyHintsComeBeforeTheAnswer(t *testing.T) {
	fake := started(t)
	fake.Behave(fakes.EarlyHints(3))
	hints := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { hints++; return nil },
	})
	if g := send(t, newRequest(t, ctx, fake.URL()+"/v1/context/search")); g.status != 200 || hints != 3 {
		t.Errorf("got %d after %d hints", g.status, hints)
	}
}

func TestSilenceLastsUntilTheClientGoes(t *testing.T) {
	for name, behaviour := range map[string]fakes.Behaviour{"Silence": fakes.Silence, "HalfThenSilence": fakes.HalfThenSilence, "Gate": fakes.NewGate().Hold} {
		t.Run(name, func(t *testing.T) {
			fake := started(t)
			fake.Behave(behaviour)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan got)
			request := newRequest(t, ctx, fake.URL()+"/v1/context/search")
			go func() { done <- send(t, request) }()
			patience, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			if err := fake.Wait(patience, 1); err != nil {
				t.Fatal(err)
			}
			cancel()
			if g := <-done; g.err == nil && g.bodyErr == nil {
				t.Errorf("it answered %q", g.body)
			}
			if err := fake.WaitGone(patience, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnOpenGateLetsPass(t *testing.T) {
	fake := started(t)
	gate := fakes.NewGate()
	gate.Open()
	gate.Open()
	fake.Behave(gate.Hold)
	if g := send(t, newRequest(t, t.Context(), fake.URL()+"/v1/context/search")); string(g.body) != good {
		t.Errorf("got %+v", g)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	fake := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if fake.Wait(ctx, 1) == nil || fake.WaitGone(ctx, 1) == nil {
		t.Error("waiting for what has not come is no error")
	}
}

func TestAWrongRequestIsRefusedAndRecorded(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"another path", func(r *http.Request) { r.URL.Path = "/v1/context" }, 404},
		{"a query string", func(r *http.Request) { r.URL.RawQuery = "a=b" }, 404},
		{"another method", func(r *http.Request) { r.Method = http.MethodPut }, 405},
		{"another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") }, 401},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Token "+token) }, 401},
		{"another content type", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"an unknown member", func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"query":"x","limit":5,"a":1}`)), -1
		}, 400},
		{"no limit", func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"query":"x"}`)), -1 }, 400},
	} {
		fake := started(t)
		request := newRequest(t, t.Context(), fake.URL()+"/v1/context/search")
		c.change(request)
		if g := send(t, request); g.status != c.status {
			t.Errorf("%s: got %d, %v, want %d", c.name, g.status, g.err, c.status)
		}
		if fake.Count() != 1 {
			t.Errorf("%s: %d requests recorded", c.name, fake.Count())
		}
	}
}

func TestCertificatesAreGoodForTheirNamesAndTimeOnly(t *testing.T) {
	authority := fakes.StartAuthority(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.PEM())
	expired, err := authority.ServeUntil(time.Now().Add(-time.Minute), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		serve *tls.Config
		good  bool
	}{
		{"its own name", authority.ServerTLS(t, "127.0.0.1"), true},
		{"another name", authority.ServerTLS(t, fakes.Mem0Host), false},
		{"expired", expired, false},
		{"another authority", fakes.StartAuthority(t).ServerTLS(t, "127.0.0.1"), false},
	} {
		fake := fakes.StartGenericHTTP(t, token, c.serve)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
		response, err := client.Do(newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
		if (err == nil) != c.good {
			t.Errorf("%s: got %v, want good: %v", c.name, err, c.good)
		}
		if err == nil {
			response.Body.Close()
		}
	}
}

func TestTheProxyReachesItsRoutesOnly(t *testing.T) {
	authority := fakes.StartAuthority(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.PEM())
	fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "there.example"))
	proxy := fakes.StartProxy(t, map[string]string{"there.example:443": fake.Addr()})
	address, err := url.Parse(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{RootCAs: pool}}}
	for target, good := range map[string]bool{"https://there.example": true, "https://elsewhere.example": false} {
		response, err := client.Do(newRequest(t, t.Context(), target+"/v1/context/search"))
		if (err == nil) != good {
			t.Errorf("%s: got %v", target, err)
		}
		if err == nil {
			response.Body.Close()
		}
	}
	if len(proxy.Asked()) != 2 || fake.Count() != 1 {
		t.Errorf("asked for %v, %d requests", proxy.Asked(), fake.Count())
	}
}

func TestLeaksAreFoundInTheFormsTextGetsAboutIn(t *testing.T) {
	canary := fakes.Canary()
	if fakes.Canary() == canary {
		t.Error("two canaries are alike")
	}
	for name, c := range map[string]struct {
		text string
		leak bool
	}{
		"plain":                {"x" + canary + "y", true},
		"upper case":           {strings.ToUpper(canary), true},
		"hexadecimal":          {hex.EncodeToString([]byte(canary)), true},
		"base64":               {base64.StdEncoding.EncodeToString([]byte(canary)), true},
		"base64 behind 1 byte": {base64.StdEncoding.EncodeToString([]byte("x" + canary + "y")), true},
		"base64 behind 2":      {base64.StdEncoding.EncodeToString([]byte("xy" + canary)), true},
		"basic authorization":  {base64.StdEncoding.EncodeToString([]byte("user:" + canary)), true},
		"half of it":           {canary[:len(canary)/2], false},
		"nothing":              {"", false},
	} {
		if got := fakes.Leaks([]string{canary}, []byte(c.text)); (len(got) == 1) != c.leak {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
