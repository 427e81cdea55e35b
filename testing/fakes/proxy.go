package fakes

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Proxy is an HTTP proxy that records what it is asked for and reaches only where
// its routes say.
type Proxy struct {
	listener net.Listener
	server   *http.Server
	routes   map[string]string
	refusal  int
	// Authorization, if set before use, is the Proxy-Authorization it demands.
	Authorization string

	mu    sync.Mutex
	asked []string
}

// NewProxy starts a proxy. Routes map what CONNECT names ("api.mem0.ai:443") to
// the address to reach in its place; everything else is refused with status 403.
func NewProxy(routes map[string]string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, routes: routes, refusal: http.StatusForbidden}
	p.server = &http.Server{Handler: http.HandlerFunc(p.handle), ErrorLog: silentLog(), ReadHeaderTimeout: 10 * time.Second}
	go p.server.Serve(listener)
	return p, nil
}

// URL returns the proxy's address for HTTP_PROXY and HTTPS_PROXY.
func (p *Proxy) URL() string { return "http://" + p.listener.Addr().String() }

// Close ends the proxy.
func (p *Proxy) Close() { p.server.Close() }

// Asked returns what the proxy was asked for, in order: method and target.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI)
	p.mu.Unlock()
	target, ok := p.routes[r.RequestURI]
	switch {
	case p.Authorization != "" && r.Header.Get("Proxy-Authorization") != p.Authorization:
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method != http.MethodConnect || !ok:
		w.WriteHeader(p.refusal)
	default:
		p.tunnel(w, r.Context(), target)
	}
}

// tunnel copies both ways until either side ends.
func (p *Proxy) tunnel(w http.ResponseWriter, ctx context.Context, target string) {
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", target)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	// Written by hand: net/http would announce a body, which CONNECT has not.
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, buffered)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
