package fakes_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"syscall"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

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
		{"AtLimit", fakes.AtLimit, func(g got) bool { return len(g.body) == mebibyte && g.length == mebibyte && isGood(g.body) }},
		{"AtLimitChunked", fakes.AtLimitChunked, func(g got) bool { return len(g.body) == mebibyte && g.length == -1 && isGood(g.body) }},
		{"OverLimit", fakes.OverLimit, func(g got) bool { return len(g.body) == mebibyte+1 && g.length == mebibyte+1 && isGood(g.body) }},
		{"OverLimitChunked", fakes.OverLimitChunked, func(g got) bool { return len(g.body) == mebibyte+1 && g.length == -1 && isGood(g.body) }},
		{"ByteOrderMark", fakes.ByteOrderMark, func(g got) bool { return string(g.body) == "\ufeff"+good }},
		{"Gzip", fakes.Gzip(1_000_000), func(g got) bool {
			inflated := inflate(g.body)
			return g.header.Get("Content-Encoding") == "gzip" && len(g.body) < 10_000 && len(inflated) == 1_000_000 && isGood(inflated)
		}},
		{"SetCookie", fakes.SetCookie("a=b"), func(g got) bool { return g.header.Get("Set-Cookie") == "a=b" }},
		{"HugeHeader", fakes.HugeHeader(100_000), func(g got) bool { return len(g.header.Get("X-Huge")) == 100_000 }},
		{"Reset", fakes.Reset, func(g got) bool { return errors.Is(g.err, syscall.ECONNRESET) }},
		{"HangUp", fakes.HangUp, func(g got) bool { return errors.Is(g.err, io.EOF) }},
		{"NotHTTP", fakes.NotHTTP, func(g got) bool { return g.err != nil && strings.Contains(g.err.Error(), "malformed HTTP") }},
		{"SwitchProtocols", fakes.SwitchProtocols, func(g got) bool { return g.status == 101 }},
		{"HalfThenReset", fakes.HalfThenReset, func(g got) bool { return errors.Is(cmp.Or(g.err, g.bodyErr), syscall.ECONNRESET) }},
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

// inflate returns nil for what is no gzip.
func inflate(compressed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil
	}
	inflated, err := io.ReadAll(reader)
	if err != nil {
		return nil
	}
	return inflated
}

// isGood is whether a body is the good answer but for blanks.
func isGood(body []byte) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, body) == nil && compact.String() == good
}

func TestFaultsOfTheConnectionAreTheSameOverTLS(t *testing.T) {
	for _, c := range []struct {
		name      string
		behaviour fakes.Behaviour
		holds     func(got) bool
	}{
		{"Reset", fakes.Reset, func(g got) bool { return errors.Is(g.err, syscall.ECONNRESET) }},
		{"HangUp", fakes.HangUp, func(g got) bool { return errors.Is(g.err, io.EOF) }},
		{"NotHTTP", fakes.NotHTTP, func(g got) bool { return g.err != nil && strings.Contains(g.err.Error(), "malformed HTTP") }},
		{"HalfThenReset", fakes.HalfThenReset, func(g got) bool { return errors.Is(cmp.Or(g.err, g.bodyErr), syscall.ECONNRESET) }},
		{"HalfThenHangUp", fakes.HalfThenHangUp, func(g got) bool {
			return errors.Is(g.bodyErr, io.ErrUnexpectedEOF) && string(g.body) == good[:len(good)/2]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			authority := fakes.StartAuthority(t)
			fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "127.0.0.1"))
			fake.SetItems(fakes.Item{ID: "1", Content: "c"})
			fake.Behave(c.behaviour)
			client := trusting(authority, func(*http.Transport) {})
			if g := sendWith(t, client, newRequest(t, t.Context(), fake.URL()+"/v1/context/search")); !c.holds(g) {
				t.Errorf("got %d, %.100q, %v, %v", g.status, g.body, g.err, g.bodyErr)
			}
		})
	}
}

func TestNoConnectionFaultIsAnAnswerOverHTTP2(t *testing.T) {
	for name, behaviour := range map[string]fakes.Behaviour{"Reset": fakes.Reset, "HangUp": fakes.HangUp, "NotHTTP": fakes.NotHTTP} {
		authority := fakes.StartAuthority(t)
		fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "127.0.0.1"))
		fake.Behave(behaviour)
		client := trusting(authority, func(transport *http.Transport) { transport.ForceAttemptHTTP2 = true })
		g := sendWith(t, client, newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
		if g.err == nil || fake.Requests()[0].Proto != "HTTP/2.0" {
			t.Errorf("%s: got %d, %q, %v", name, g.status, g.body, g.err)
		}
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
