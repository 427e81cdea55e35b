package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"
)

// MaxResponse is the longest response body accepted, in bytes (contract
// section 4).
const MaxResponse = 1 << 20

// maxResponseHeader bounds the header of a response, in bytes.
const maxResponseHeader = 64 << 10

// idleTimeout is how long a connection is kept for the next search: long enough
// for the searches of one turn of the model, shorter than any server keeps it.
const idleTimeout = time.Second

// client sends one POST per operation and reads a bounded answer. It uses the
// transport alone, which follows no redirect and keeps no cookie.
type client struct {
	transport *http.Transport
}

// newClient returns a client for the network settings. It speaks HTTP/1.1 only and
// its requests have a body that cannot be read twice, so that nothing below can
// send a request again: not on another stream, and not after a reused connection
// turned out to be dead.
func newClient(network Network) (*client, error) {
	roots, err := network.roots()
	if err != nil {
		return nil, err
	}
	proxy, err := network.proxy()
	if err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &client{transport: &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		OnProxyConnectResponse: onProxyConnect,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		Protocols:              protocols,
		IdleConnTimeout:        idleTimeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxResponseHeader,
	}}, nil
}

func onProxyConnect(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return errProxyRefused
	}
	return nil
}

// post sends body and returns the answer: status 2xx, at most [MaxResponse] bytes
// of UTF-8, a leading byte-order mark dropped. Whether it is JSON shows when it is
// read. The error is an [*Error].
func (c *client) post(ctx context.Context, endpoint, authorization string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Class: ClassTransport}
	}
	request.GetBody = nil // or the transport would send the body again
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", authorization)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "external-context")
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, classify(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &Error{Class: ClassStatus, Status: response.StatusCode}
	}
	if response.ContentLength > MaxResponse {
		return nil, &Error{Class: ClassBadResponse}
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, MaxResponse+1))
	if err != nil {
		return nil, classify(ctx, err)
	}
	return checked(answer)
}

// checked returns an answer without its byte-order mark.
func checked(answer []byte) ([]byte, error) {
	if len(answer) > MaxResponse || !utf8.Valid(answer) {
		return nil, &Error{Class: ClassBadResponse}
	}
	return bytes.TrimPrefix(answer, []byte("\ufeff")), nil
}
