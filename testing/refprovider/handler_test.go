package refprovider

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newService serves two passages and returns its URL and token.
func newService(t *testing.T) (url, token string) {
	t.Helper()
	passages, err := Load(fstest.MapFS{
		"a.md": {Data: []byte("# A\n\nblue <b>whale</b>"), ModTime: time.Date(2025, 1, 2, 5, 4, 5, 0, time.FixedZone("", 7200))},
		"b.md": {Data: []byte("blue sky and sea and land")},
	})
	if err != nil {
		t.Fatal(err)
	}
	token = rand.Text()
	server := httptest.NewServer(NewHandler(newTestIndex(t, passages), token))
	t.Cleanup(server.Close)
	return server.URL + SearchPath, token
}

// request is a good request but for what a test changes.
type request struct {
	method, url, authorization, contentType, body string
}

func goodRequest(url, token string) request {
	return request{http.MethodPost, url, "Bearer " + token, "application/json", `{"query":"blue","limit":5}`}
}

func (r request) send(t *testing.T) (*http.Response, string) {
	t.Helper()
	out, err := http.NewRequest(r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	out.Header.Set("Content-Type", r.contentType)
	if r.authorization != "" {
		out.Header.Set("Authorization", r.authorization)
	}
	response, err := http.DefaultClient.Do(out)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestASearchIsAnswered(t *testing.T) {
	url, token := newService(t)
	response, body := goodRequest(url, token).send(t)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s, %s", response.Status, body)
	}
	var got struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	for _, item := range got.Items {
		if score, ok := item["score"].(float64); !ok || score <= 0 {
			t.Errorf("score is %v", item["score"])
		}
		delete(item, "score")
	}
	want := []map[string]any{
		{"id": "a.md#a", "title": "A", "uri": "a.md#a", "content": "blue <b>whale</b>", "updated_at": "2025-01-02T03:04:05Z"},
		{"id": "b.md#top", "title": "b", "uri": "b.md#top", "content": "blue sky and sea and land"},
	}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Error(diff)
	}
}

func TestNothingFoundIsAnEmptyList(t *testing.T) {
	url, token := newService(t)
	r := goodRequest(url, token)
	r.body = `{"query":"nothing","limit":5}`
	if response, body := r.send(t); response.StatusCode != http.StatusOK || strings.TrimSpace(body) != `{"items":[]}` {
		t.Errorf("%s, %s", response.Status, body)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	url, token := newService(t)
	body := func(text string) func(*request) { return func(r *request) { r.body = text } }
	for name, test := range map[string]struct {
		spoil  func(*request)
		status int
		says   string
	}{
		"another path":         {func(r *request) { r.url += "/" }, 404, SearchPath},
		"the root":             {func(r *request) { r.url = strings.TrimSuffix(r.url, SearchPath) + "/" }, 404, SearchPath},
		"GET":                  {func(r *request) { r.method = http.MethodGet }, 405, "POST"},
		"PUT":                  {func(r *request) { r.method = http.MethodPut }, 405, "POST"},
		"no token":             {func(r *request) { r.authorization = "" }, 401, "token"},
		"an empty token":       {func(r *request) { r.authorization = "Bearer " }, 401, "token"},
		"another token":        {func(r *request) { r.authorization += "x" }, 401, "token"},
		"a shorter token":      {func(r *request) { r.authorization = r.authorization[:len(r.authorization)-1] }, 401, "token"},
		"another scheme":       {func(r *request) { r.authorization = "Token " + token }, 401, "token"},
		"another media type":   {func(r *request) { r.contentType = "text/plain" }, 415, "application/json"},
		"no JSON":              {body("query"), 400, "not valid JSON"},
		"an empty body":        {body(""), 400, "not valid JSON"},
		"trailing data":        {body(`{"query":"x","limit":5}{}`), 400, "not valid JSON"},
		"invalid UTF-8":        {body("{\"query\":\"\xff\",\"limit\":5}"), 400, "not valid JSON"},
		"an array":             {body(`[]`), 400, "object"},
		"an unknown member":    {body(`{"query":"x","limit":5,"filter":1}`), 400, "unknown"},
		"another case":         {body(`{"Query":"x","limit":5}`), 400, "unknown"},
		"a member twice":       {body(`{"query":"x","query":"y","limit":5}`), 400, "query is given twice"},
		"no query":             {body(`{"limit":5}`), 400, "query is required"},
		"a query that is null": {body(`{"query":null,"limit":5}`), 400, "query must be a string"},
		"a blank query":        {body(`{"query":" \n","limit":5}`), 400, "query must not be empty"},
		"no limit":             {body(`{"query":"x"}`), 400, "limit is required"},
		"a limit as text":      {body(`{"query":"x","limit":"5"}`), 400, "limit must be an integer"},
		"a broken limit":       {body(`{"query":"x","limit":1.5}`), 400, "limit must be an integer"},
		"limit 0":              {body(`{"query":"x","limit":0}`), 400, "limit must be from 1 to 50"},
		"limit 51":             {body(`{"query":"x","limit":51}`), 400, "limit must be from 1 to 50"},
		"2001 code points":     {body(`{"query":"` + strings.Repeat("é", MaxQuery+1) + `","limit":5}`), 400, "at most 2000"},
		"a byte too many":      {body(sized(MaxRequestBytes + 1)), 413, "at most 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := goodRequest(url, token)
			test.spoil(&r)
			response, body := r.send(t)
			var refusal struct{ Error string }
			if err := json.Unmarshal([]byte(body), &refusal); err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			if response.StatusCode != test.status || !strings.Contains(refusal.Error, test.says) {
				t.Errorf("%d %q, want %d and %q", response.StatusCode, refusal.Error, test.status, test.says)
			}
			if got := response.Header.Get("WWW-Authenticate"); (got != "") != (test.status == 401) {
				t.Errorf("WWW-Authenticate is %q", got)
			}
			if got := response.Header.Get("Allow"); (got != "") != (test.status == 405) {
				t.Errorf("Allow is %q", got)
			}
		})
	}
}

// sized is a good request body of n bytes.
func sized(n int) string {
	const body = `{"query":"blue","limit":5}`
	return strings.Repeat(" ", n-len(body)) + body
}

func TestRequestsAtTheLimits(t *testing.T) {
	url, token := newService(t)
	for name, body := range map[string]string{
		"limit 1":          `{"query":"x","limit":1}`,
		"limit 50":         `{"limit":50,"query":"x"}`,
		"2000 code points": `{"query":"` + strings.Repeat("é", MaxQuery) + `","limit":5}`,
		"the largest body": sized(MaxRequestBytes),
	} {
		r := goodRequest(url, token)
		r.body, r.contentType = body, "application/json; charset=utf-8"
		if response, text := r.send(t); response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", name, response.Status, text)
		}
	}
}

// broken is a searcher whose every search fails.
type broken struct{}

func (broken) Search(context.Context, string, int) ([]Hit, error) {
	return nil, errors.New("the disk of the machine is gone")
}

func TestAFailedSearchSaysNothingAboutItself(t *testing.T) {
	server := httptest.NewServer(NewHandler(broken{}, "not-a-secret"))
	defer server.Close()
	response, body := goodRequest(server.URL+SearchPath, "not-a-secret").send(t)
	if response.StatusCode != 500 || strings.TrimSpace(body) != `{"error":"the search failed"}` {
		t.Errorf("%s %s", response.Status, body)
	}
}
