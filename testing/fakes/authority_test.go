package fakes_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

func TestCertificatesAreGoodForTheirNamesAndTimeOnly(t *testing.T) {
	authority := fakes.StartAuthority(t)
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
		client := trusting(authority, func(*http.Transport) {})
		g := sendWith(t, client, newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
		if (g.err == nil) != c.good {
			t.Errorf("%s: got %v, want good: %v", c.name, g.err, c.good)
		}
	}
}

func TestTheClientChoosesTheProtocol(t *testing.T) {
	authority := fakes.StartAuthority(t)
	fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "127.0.0.1"))
	for proto, edit := range map[string]func(*http.Transport){
		"HTTP/1.1": func(*http.Transport) {},
		"HTTP/2.0": func(transport *http.Transport) { transport.ForceAttemptHTTP2 = true },
	} {
		fake.Forget()
		sendWith(t, trusting(authority, edit), newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
		if r := fake.Requests(); len(r) != 1 || r[0].Proto != proto {
			t.Errorf("got %+v, want one over %s", r, proto)
		}
	}
}

// A server of old TLS refuses nobody who speaks it, so that a client that does not
// reach it has refused by itself.
func TestAServerOfOldTLSCanBeReached(t *testing.T) {
	authority := fakes.StartAuthority(t)
	old := authority.ServerTLS(t, "127.0.0.1")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	fake := fakes.StartGenericHTTP(t, token, old)
	for least, good := range map[uint16]bool{tls.VersionTLS11: true, tls.VersionTLS12: false} {
		client := trusting(authority, func(transport *http.Transport) { transport.TLSClientConfig.MinVersion = least })
		if g := sendWith(t, client, newRequest(t, t.Context(), fake.URL()+"/v1/context/search")); (g.err == nil) != good {
			t.Errorf("a client of %s or newer got %v", tls.VersionName(least), g.err)
		}
	}
}

func TestTheWrittenCertificateIsTheAuthoritys(t *testing.T) {
	authority := fakes.StartAuthority(t)
	path, err := authority.WritePEM(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(content) != string(authority.PEM()) {
		t.Errorf("got %q, %v", content, err)
	}
}
