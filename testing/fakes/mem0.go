package fakes

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"sync"
)

// Mem0Host is the host name of the Mem0 platform, for certificates and routes.
const Mem0Host = "api.mem0.ai"

// Memory is one memory of the fake Mem0 platform, in its wire form.
type Memory struct {
	ID        string  `json:"id"`
	Memory    string  `json:"memory"`
	Score     float64 `json:"score"`
	UpdatedAt string  `json:"updated_at,omitempty"`
}

// Mem0 is a fake of Mem0 Platform V3. It keeps a corpus for each application and
// answers a search with the memories of the one in the filters. Its search
// satisfies the official client.
type Mem0 struct {
	*Server
	key string

	mu       sync.Mutex
	memories map[string][]Memory
}

// NewMem0 starts a fake that wants the API key. It speaks TLS if config is not nil.
func NewMem0(key string, config *tls.Config) (*Mem0, error) {
	fake := &Mem0{key: key, memories: map[string][]Memory{}}
	server, err := start(config, fake.respond)
	fake.Server = server
	return fake, err
}

// SetMemories replaces the corpus of an application.
func (f *Mem0) SetMemories(appID string, memories ...Memory) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memories[appID] = memories
}

func (f *Mem0) respond(request Request) (int, []byte) {
	switch request.Path {
	case "/v1/ping/": // what the official client asks first
		if request.Header.Get("Authorization") != "Token "+f.key {
			return http.StatusUnauthorized, []byte(`{"detail":"refused"}`)
		}
		return http.StatusOK, []byte(`{"status":"ok","org_id":"org","project_id":"project","user_email":"person@example.com"}`)
	default:
		return f.search(request)
	}
}

func (f *Mem0) search(request Request) (int, []byte) {
	if status := refuse(request, "/v3/memories/search/", "Token "+f.key); status != 0 {
		return status, []byte(`{"detail":"refused"}`)
	}
	var search struct {
		Query   *string `json:"query"`
		TopK    int     `json:"top_k"`
		Filters struct {
			AppID string `json:"app_id"`
		} `json:"filters"`
	}
	search.TopK = 10 // if the request has none
	if json.Unmarshal(request.Body, &search) != nil || search.Query == nil || search.Filters.AppID == "" || search.TopK < 1 {
		return http.StatusBadRequest, []byte(`{"detail":"bad request"}`)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	memories := f.memories[search.Filters.AppID]
	found := append([]Memory{}, memories[:min(len(memories), search.TopK)]...)
	return http.StatusOK, encode(map[string]any{"results": found})
}
