package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"
)

// MaxResponse is the longest response body accepted, in bytes (contract
// section 4).
const MaxResponse = 1 << 20

// maxResponseHeader bounds the header of a response, in bytes.
const maxResponseHeader = 64 << 10

// client sends one POST per operation and reads a bounded JSON answer. It uses
// the transport alone, which follows no redirect and keeps no cookie.
type client struct {
	transport *http.Transport
}

// newClient returns a client for the network settings. Each request has a
// connection of its own and HTTP/1.1 only: with no connection to reuse and no
// stream to refuse, nothing below can send a request twice.
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
		DisableKeepAlives:      true,
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

// post sends body and returns the answer: status 2xx, at most [MaxResponse]
// bytes of JSON in UTF-8, a leading byte-order mark dropped. The error is an
// [*Error].
func (c *client) post(ctx context.Context, endpoint, authorization string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Class: ClassTransport}
	}
	request.GetBody = nil // nothing to send a second time
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

// checked returns the JSON text of an answer without its byte-order mark.
func checked(answer []byte) ([]byte, error) {
	if len(answer) > MaxResponse || !utf8.Valid(answer) {
		return nil, &Error{Class: ClassBadResponse}
	}
	answer = bytes.TrimPrefix(answer, []byte("\ufeff"))
	if !json.Valid(answer) {
		return nil, &Error{Class: ClassBadResponse}
	}
	return answer, nil
}
