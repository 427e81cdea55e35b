package fakes_test

import (
	"net/http"
	"testing"

	"external-context.internal/appliance/testing/fakes"
)

const mem0Body = `{"query":"x","filters":{"app_id":"a"},"top_k":5,"threshold":0.1,"rerank":false}`

// askMem0 sends a search, changed by change.
func askMem0(t *testing.T, fake *fakes.Mem0, body string, change func(*http.Request)) got {
	t.Helper()
	request := newRequest(t, t.Context(), fake.URL()+"/v3/memories/search/")
	request.Header.Set("Authorization", "Token "+token)
	withBody(body)(request)
	change(request)
	return send(t, request)
}

func asItIs(*http.Request) {}

func TestASearchSeesTheMemoriesOfItsApplicationOnly(t *testing.T) {
	fake := fakes.StartMem0(t, token, nil)
	fake.SetMemories("a", fakes.Memory{ID: "1", Memory: "of a", Score: 0.5, UpdatedAt: "d"}, fakes.Memory{ID: "2", Memory: "of a too"})
	fake.SetMemories("b", fakes.Memory{ID: "3", Memory: "of b"})
	const first, second = `{"id":"1","memory":"of a","score":0.5,"updated_at":"d"}`, `{"id":"2","memory":"of a too","score":0}`
	for body, want := range map[string]string{
		mem0Body:                                 first + "," + second,
		`{"query":"x","filters":{"app_id":"a"}}`: first + "," + second,
		`{"query":"x","filters":{"app_id":"a"},"top_k":2}`: first + "," + second,
		`{"query":"x","filters":{"app_id":"a"},"top_k":1}`: first,
		`{"query":"x","filters":{"app_id":"b"}}`:           `{"id":"3","memory":"of b","score":0}`,
		`{"query":"x","filters":{"app_id":"A"}}`:           "",
	} {
		if g := askMem0(t, fake, body, asItIs); g.status != 200 || string(g.body) != `{"results":[`+want+`]}` {
			t.Errorf("%s: got %d, %s", body, g.status, g.body)
		}
	}
}

func TestAWrongSearchOfMemoriesIsRefused(t *testing.T) {
	fake := fakes.StartMem0(t, token, nil)
	for _, c := range []struct {
		name   string
		body   string
		change func(*http.Request)
		status int
	}{
		{"none of these", mem0Body, asItIs, 200},
		{"another path", mem0Body, func(r *http.Request) { r.URL.Path = "/v3/memories/search" }, 404},
		{"adding", mem0Body, func(r *http.Request) { r.URL.Path = "/v3/memories/add/" }, 404},
		{"another method", mem0Body, func(r *http.Request) { r.Method = http.MethodPut }, 405},
		{"another key", mem0Body, func(r *http.Request) { r.Header.Set("Authorization", "Token other") }, 401},
		{"another scheme", mem0Body, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }, 401},
		{"a ping with another key", mem0Body, func(r *http.Request) { r.URL.Path = "/v1/ping/"; r.Header.Del("Authorization") }, 401},
		{"no filters", `{"query":"x"}`, asItIs, 400},
		{"the application at the top", `{"query":"x","app_id":"a"}`, asItIs, 400},
		{"no query", `{"filters":{"app_id":"a"}}`, asItIs, 400},
		{"top_k 0", `{"query":"x","filters":{"app_id":"a"},"top_k":0}`, asItIs, 400},
		{"top_k below 0", `{"query":"x","filters":{"app_id":"a"},"top_k":-1}`, asItIs, 400},
	} {
		if g := askMem0(t, fake, c.body, c.change); g.status != c.status {
			t.Errorf("%s: got %d, %v, want %d", c.name, g.status, g.err, c.status)
		}
	}
}
