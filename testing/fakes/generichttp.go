package fakes

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"sync"
)

// Item is one document of the fake Generic HTTP corpus, in its wire form.
type Item struct {
	ID        string   `json:"id"`
	Content   string   `json:"content"`
	Title     string   `json:"title,omitempty"`
	URI       string   `json:"uri,omitempty"`
	Score     *float64 `json:"score,omitempty"`
	UpdatedAt string   `json:"updated_at,omitempty"`
}

// GenericHTTP is a fake of Generic HTTP Search V1. Whatever the query, it returns
// its items up to the limit.
type GenericHTTP struct {
	*Server
	token string

	mu    sync.Mutex
	items []Item
}

// NewGenericHTTP starts a fake that wants the bearer token. It speaks TLS if config
// is not nil.
func NewGenericHTTP(token string, config *tls.Config) (*GenericHTTP, error) {
	fake := &GenericHTTP{token: token}
	server, err := start(config, fake.respond)
	fake.Server = server
	return fake, err
}

// SetItems replaces the corpus.
func (f *GenericHTTP) SetItems(items ...Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items = items
}

func (f *GenericHTTP) respond(request Request) (int, []byte) {
	if status := refuse(request, "/v1/context/search", "Bearer "+f.token); status != 0 {
		return status, []byte(`{"error":"refused"}`)
	}
	var search struct {
		Query *string `json:"query"`
		Limit *int    `json:"limit"`
	}
	if !strict(request.Body, &search) || search.Query == nil || search.Limit == nil || *search.Limit < 1 {
		return http.StatusBadRequest, []byte(`{"error":"bad request"}`)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	items := append([]Item{}, f.items[:min(len(f.items), *search.Limit)]...)
	return http.StatusOK, encode(map[string]any{"items": items})
}

// refuse returns the status for a request that is not the one expected, or 0.
func refuse(request Request, path, authorization string) int {
	switch {
	case request.Path != path || request.RawQuery != "":
		return http.StatusNotFound
	case request.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case request.Header.Get("Authorization") != authorization:
		return http.StatusUnauthorized
	case request.Header.Get("Content-Type") != "application/json":
		return http.StatusUnsupportedMediaType
	}
	return 0
}

// strict decodes a body that is one document without unknown members.
func strict(body []byte, v any) bool {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	return json.Valid(body) && decoder.Decode(v) == nil
}

// encode encodes what cannot fail to encode.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}
