package fakes_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakes"
)

func through(t *testing.T, proxy *fakes.Proxy) func(*http.Transport) {
	t.Helper()
	address, err := url.Parse(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	return func(transport *http.Transport) { transport.Proxy = http.ProxyURL(address) }
}

func TestTheProxyReachesItsRoutesOnly(t *testing.T) {
	authority := fakes.StartAuthority(t)
	fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "there.example"))
	proxy := fakes.StartProxy(t, map[string]string{"there.example:443": fake.Addr(), "down.example:443": "127.0.0.1:0"})
	for _, c := range []struct {
		target, asked, failure string
		status                 int
	}{
		{"https://there.example", "CONNECT there.example:443", "", 200},
		{"https://elsewhere.example", "CONNECT elsewhere.example:443", "Forbidden", 0},
		{"https://there.example:444", "CONNECT there.example:444", "Forbidden", 0},
		{"https://down.example", "CONNECT down.example:443", "Bad Gateway", 0},
		{"http://there.example", "POST http://there.example/v1/context/search", "", 403},
	} {
		g := sendWith(t, trusting(authority, through(t, proxy)), newRequest(t, t.Context(), c.target+"/v1/context/search"))
		if g.status != c.status || (g.err == nil) != (c.failure == "") || g.err != nil && !strings.Contains(g.err.Error(), c.failure) {
			t.Errorf("%s: got %d, %v, want %d, %q", c.target, g.status, g.err, c.status, c.failure)
		}
		if asked := proxy.Asked(); asked[len(asked)-1] != c.asked {
			t.Errorf("%s: the proxy recorded %v", c.target, asked)
		}
	}
	if fake.Count() != 1 {
		t.Errorf("%d requests came through", fake.Count())
	}
}

func TestTheProxyWantsItsCredentials(t *testing.T) {
	authority := fakes.StartAuthority(t)
	fake := fakes.StartGenericHTTP(t, token, authority.ServerTLS(t, "there.example"))
	proxy := fakes.StartProxy(t, map[string]string{"there.example:443": fake.Addr()})
	proxy.Authorization = "Basic dTpw"
	for credentials, good := range map[string]bool{"": false, "Basic b3RoZXI=": false, "Basic dTpw": true} {
		client := trusting(authority, func(transport *http.Transport) {
			through(t, proxy)(transport)
			transport.ProxyConnectHeader = http.Header{"Proxy-Authorization": {credentials}}
		})
		g := sendWith(t, client, newRequest(t, t.Context(), "https://there.example/v1/context/search"))
		if (g.err == nil) != good || g.err != nil && !strings.Contains(g.err.Error(), "Proxy Authentication Required") {
			t.Errorf("with %q: got %d, %v", credentials, g.status, g.err)
		}
	}
}

// What follows the answer to CONNECT belongs to the tunnel, so it has no framing.
func TestTheAnswerToCONNECTHasNoBody(t *testing.T) {
	fake := started(t)
	proxy := fakes.StartProxy(t, map[string]string{"there.example:443": fake.Addr()})
	connection, err := net.Dial("tcp", strings.TrimPrefix(proxy.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "CONNECT there.example:443 HTTP/1.1\r\nHost: there.example:443\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil || response.StatusCode != 200 || len(response.TransferEncoding) > 0 || response.Header.Get("Content-Length") != "" {
		t.Errorf("got %+v, %v", response, err)
	}
}
