package fakes

import (
	"crypto/tls"
	"testing"
)

// StartGenericHTTP starts a [GenericHTTP] that ends with the test.
func StartGenericHTTP(tb testing.TB, token string, config *tls.Config) *GenericHTTP {
	tb.Helper()
	fake, err := NewGenericHTTP(token, config)
	return ending(tb, fake, err, fake.Close)
}

// StartMem0 starts a [Mem0] that ends with the test.
func StartMem0(tb testing.TB, key string, config *tls.Config) *Mem0 {
	tb.Helper()
	fake, err := NewMem0(key, config)
	return ending(tb, fake, err, fake.Close)
}

// StartProxy starts a [Proxy] that ends with the test.
func StartProxy(tb testing.TB, routes map[string]string) *Proxy {
	tb.Helper()
	proxy, err := NewProxy(routes)
	return ending(tb, proxy, err, proxy.Close)
}

// StartAuthority makes an [Authority].
func StartAuthority(tb testing.TB) *Authority {
	tb.Helper()
	authority, err := NewAuthority()
	return ending(tb, authority, err, func() {})
}

// ServerTLS returns the TLS configuration of a server with the names.
func (a *Authority) ServerTLS(tb testing.TB, names ...string) *tls.Config {
	tb.Helper()
	config, err := a.Serve(names...)
	return ending(tb, config, err, func() {})
}

// ending registers the end of what was started, or fails the test.
func ending[T any](tb testing.TB, started T, err error, end func()) T {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(end)
	return started
}
