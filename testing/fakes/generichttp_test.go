package fakes_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakes"
)

// withBody replaces a request's body.
func withBody(body string) func(*http.Request) {
	return func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), -1 }
}

func TestTheFakeGivesItsItemsUpToTheLimit(t *testing.T) {
	score := 0.0
	fake := fakes.StartGenericHTTP(t, token, nil)
	for _, c := range []struct {
		name  string
		items []fakes.Item
		limit string
		want  string
	}{
		{"none", nil, "5", `{"items":[]}`},
		{"as many as asked for", []fakes.Item{{ID: "1"}, {ID: "2"}}, "2", `{"items":[{"id":"1","content":""},{"id":"2","content":""}]}`},
		{"one more than asked for", []fakes.Item{{ID: "1"}, {ID: "2"}}, "1", `{"items":[{"id":"1","content":""}]}`},
		{"all members", []fakes.Item{{ID: "1", Content: "c", Title: "t", URI: "u", Score: &score, UpdatedAt: "d"}}, "1",
			`{"items":[{"id":"1","content":"c","title":"t","uri":"u","score":0,"updated_at":"d"}]}`},
	} {
		fake.SetItems(c.items...)
		request := newRequest(t, t.Context(), fake.URL()+"/v1/context/search")
		withBody(`{"query":"x","limit":` + c.limit + `}`)(request)
		if g := send(t, request); g.status != 200 || string(g.body) != c.want {
			t.Errorf("%s: got %d, %s, want %s", c.name, g.status, g.body, c.want)
		}
	}
}

func TestAWrongRequestIsRefusedAndRecorded(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"another path", func(r *http.Request) { r.URL.Path = "/v1/context" }, 404},
		{"a query string", func(r *http.Request) { r.URL.RawQuery = "a=b" }, 404},
		{"another method", func(r *http.Request) { r.Method = http.MethodPut }, 405},
		{"another token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") }, 401},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Token "+token) }, 401},
		{"another content type", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"an unknown member", withBody(`{"query":"x","limit":5,"a":1}`), 400},
		{"no limit", withBody(`{"query":"x"}`), 400},
		{"no query", withBody(`{"limit":5}`), 400},
		{"a limit of 0", withBody(`{"query":"x","limit":0}`), 400},
		{"a limit below 0", withBody(`{"query":"x","limit":-1}`), 400},
		{"a limit that is a string", withBody(`{"query":"x","limit":"5"}`), 400},
		{"a second document", withBody(`{"query":"x","limit":5}{}`), 400},
		{"a brace too many", withBody(`{"query":"x","limit":5}}`), 400},
		{"no body", withBody(``), 400},
	} {
		fake := started(t)
		request := newRequest(t, t.Context(), fake.URL()+"/v1/context/search")
		c.change(request)
		if g := send(t, request); g.status != c.status {
			t.Errorf("%s: got %d, %v, want %d", c.name, g.status, g.err, c.status)
		}
		if fake.Count() != 1 {
			t.Errorf("%s: %d requests recorded", c.name, fake.Count())
		}
	}
}
