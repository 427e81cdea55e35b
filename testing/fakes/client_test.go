package fakes_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strings"
	"testing"

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

// trusting is a client that trusts the authority only, changed by edit.
func trusting(authority *fakes.Authority, edit func(*http.Transport)) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority.PEM())
	client := plain()
	transport := &http.Transport{DisableCompression: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	edit(transport)
	client.Transport = transport
	return client
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
	return sendWith(t, plain(), request)
}

func sendWith(t *testing.T, client *http.Client, request *http.Request) got {
	t.Helper()
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return got{err: err}
	}
	defer response.Body.Close()
	body, bodyErr := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header, response.ContentLength, body, nil, bodyErr}
}

const good = `{"items":[{"id":"1","content":"c"}]}`
