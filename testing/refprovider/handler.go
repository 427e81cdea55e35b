package refprovider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"external-context.internal/appliance/src/strictjson"
)

// What a request may be (contract section 4).
const (
	// SearchPath is the one path that is served.
	SearchPath = "/v1/context/search"
	// MaxRequestBytes is the largest request body, in bytes.
	MaxRequestBytes = 64 << 10
	// MaxQuery is the longest query, in code points.
	MaxQuery = 2000
	// MinLimit and MaxLimit bound the number of results that can be asked for.
	MinLimit = 1
	MaxLimit = 50

	searchTimeout = 5 * time.Second
)

// Searcher finds passages. [Index] is one.
type Searcher interface {
	Search(ctx context.Context, text string, limit int) ([]Hit, error)
}

// Answer is the response of Generic HTTP Search V1 (contract section 4).
type Answer struct {
	// Items are the results, best first; an empty list if there are none.
	Items []Item `json:"items"`
}

// Item is one result. Its members are those of [Passage] and [Hit].
type Item struct {
	ID      string  `json:"id"`
	Content string  `json:"content"`
	Title   string  `json:"title,omitempty"`
	URI     string  `json:"uri,omitempty"`
	Score   float64 `json:"score"`
	// UpdatedAt is a time in UTC as RFC 3339 writes it.
	UpdatedAt string `json:"updated_at,omitempty"`
}

// refusal is an answer that is not a search's: its status and what is wrong. The
// text never repeats the request.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// NewHandler serves searches of index to whoever presents the token as a bearer
// token. The token must not be empty.
func NewHandler(index Searcher, token string) http.Handler {
	if token == "" {
		panic("refprovider: empty token")
	}
	return &handler{index: index, token: sha256.Sum256([]byte(token))}
}

type handler struct {
	index Searcher
	token [sha256.Size]byte
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, err := h.answer(w, r)
	if err == nil {
		write(w, http.StatusOK, found)
		return
	}
	refused := &refusal{http.StatusInternalServerError, "the search failed"}
	errors.As(err, &refused)
	switch refused.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="context search"`)
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	}
	write(w, refused.status, map[string]string{"error": refused.text})
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request) (Answer, error) {
	switch {
	case r.URL.Path != SearchPath:
		return Answer{}, &refusal{http.StatusNotFound, "the only path is " + SearchPath}
	case r.Method != http.MethodPost:
		return Answer{}, &refusal{http.StatusMethodNotAllowed, "the only method is POST"}
	case !h.authorized(r):
		return Answer{}, &refusal{http.StatusUnauthorized, "the bearer token is missing or wrong"}
	}
	text, limit, err := readRequest(w, r)
	if err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchTimeout)
	defer cancel()
	hits, err := h.index.Search(ctx, text, limit)
	if err != nil {
		return Answer{}, err
	}
	return newAnswer(hits), nil
}

// authorized compares the token in a time that tells nothing about it.
func (h *handler) authorized(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	presented := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(presented[:], h.token[:]) == 1
}

// readRequest returns what is asked for. The error is a [*refusal].
func readRequest(w http.ResponseWriter, r *http.Request) (text string, limit int, err error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return "", 0, &refusal{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBytes))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return "", 0, &refusal{http.StatusRequestEntityTooLarge, "the body must be at most " + strconv.Itoa(MaxRequestBytes) + " bytes"}
	}
	if err != nil {
		return "", 0, &refusal{http.StatusBadRequest, "the body could not be read"}
	}
	text, limit, err = parseRequest(body)
	if err != nil {
		return "", 0, &refusal{http.StatusBadRequest, err.Error()}
	}
	return text, limit, nil
}

// parseRequest reads a body that must have the members query and limit and no
// others. The error names the member and the rule.
func parseRequest(body []byte) (text string, limit int, err error) {
	object, err := strictjson.Parse(body, "query", "limit")
	if err != nil {
		return "", 0, err
	}
	if text, err = object.String("query"); err != nil {
		return "", 0, err
	}
	if strings.TrimSpace(text) == "" {
		return "", 0, object.Violation("query", "must not be empty")
	}
	if utf8.RuneCountInString(text) > MaxQuery {
		return "", 0, object.Violation("query", "must be at most "+strconv.Itoa(MaxQuery)+" characters long")
	}
	if limit, err = object.Integer("limit"); err != nil {
		return "", 0, err
	}
	if limit < MinLimit || limit > MaxLimit {
		return "", 0, object.Violation("limit", "must be from "+strconv.Itoa(MinLimit)+" to "+strconv.Itoa(MaxLimit))
	}
	return text, limit, nil
}

func newAnswer(hits []Hit) Answer {
	found := Answer{Items: make([]Item, 0, len(hits))}
	for _, hit := range hits {
		shown := Item{
			ID: hit.ID, Content: hit.Content, Title: hit.Title, URI: hit.URI,
			Score: math.Round(hit.Score*1e4) / 1e4, // more digits say nothing
		}
		if !hit.UpdatedAt.IsZero() {
			shown.UpdatedAt = hit.UpdatedAt.UTC().Format(time.RFC3339)
		}
		found.Items = append(found.Items, shown)
	}
	return found
}

// write sends one JSON value. There is nowhere to report that it failed.
func write(w http.ResponseWriter, status int, value any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}
