// Package provider searches the one corpus a configuration binds (contract
// section 4).
//
// It owns the wire form of each provider, the one bounded HTTP client they share,
// and the factory that alone knows all of them. An error from here says only what
// class of failure it was: no URL, credential, query or provider text is in it.
package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/src/envelope"
)

// Searcher searches one corpus with one credential. It keeps no state between
// searches and serves concurrent calls independently.
type Searcher struct {
	client  *client
	adapter adapter
	timeout time.Duration
}

// adapter is all that differs between providers when searching.
type adapter struct {
	endpoint      string
	authorization string
	// request returns the JSON body for a folded query.
	request func(query string, limit int) any
	// response names the members to read.
	response responseShape
}

// errUnknownType cannot happen with a configuration that was parsed.
var errUnknownType = errors.New("unknown provider type")

// NewSearcher returns the searcher for a valid configuration. The error is for
// the opaque start line: it reports unusable network settings.
func NewSearcher(cfg *config.Config, network Network) (*Searcher, error) {
	var a adapter
	switch cfg.Provider.Type {
	case config.Mem0PlatformV3:
		a = mem0Search(cfg.Provider.AppID, cfg.Credential)
	case config.GenericHTTPSearchV1:
		a = genericHTTPSearch(cfg.Provider.BaseURL, cfg.Credential)
	default:
		return nil, errUnknownType
	}
	client, err := newClient(network)
	if err != nil {
		return nil, err
	}
	return &Searcher{client: client, adapter: a, timeout: cfg.Timeout}, nil
}

// Search asks the provider once for a folded query and returns at most limit
// items in the provider's order. It ends at the configured timeout or when ctx
// does. The error is an [*Error].
func (s *Searcher) Search(ctx context.Context, query string, limit int) ([]envelope.Item, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := encode(s.adapter.request(query, limit))
	if err != nil {
		return nil, &Error{Class: ClassTransport}
	}
	response, err := s.client.post(ctx, s.adapter.endpoint, s.adapter.authorization, request)
	if err != nil {
		return nil, err
	}
	return s.adapter.response.items(response, limit)
}

// encode writes v as JSON without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
