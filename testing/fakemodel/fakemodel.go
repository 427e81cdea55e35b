// Package fakemodel is a model for tests of real MCP clients: an OpenAI-compatible
// server on loopback that follows a short script and records what it was sent.
//
// It knows the wire form of chat completions and nothing of the product. It cannot
// loop: each step of a script is taken once, and after the last it only talks.
package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody bounds a request, in bytes.
const maxBody = 8 << 20

// Call is a tool call the model makes.
type Call struct {
	// Tool is the tool's name, as the client offered it.
	Tool string
	// Arguments is their JSON text, sent as it is.
	Arguments string
}

// Step is one thing the model does, once: to the first request for which When
// holds, it answers with the calls, or with the text if there are none.
type Step struct {
	When  func(Request) bool
	Calls []Call
	Text  string
}

// Script is what the model does. Of the steps that were not taken yet, the first
// that is due is; every request to which none is due gets the closing text.
//
// A client has errands of its own with the model, such as a title for the
// conversation or a judgement of a call. Each When should hold for no other
// request than the one it means; see [Asked], [Resulted] and [Offered].
type Script struct {
	Steps   []Step
	Closing string
}

// Asked holds for a request whose last message is a person's and has the prompt
// in it. Clients wrap a prompt into words of their own.
func Asked(prompt string) func(Request) bool {
	return func(r Request) bool {
		last := r.Messages[len(r.Messages)-1]
		return last.Role == "user" && strings.Contains(last.Text(), prompt)
	}
}

// Resulted holds for a request whose last message is the result of a tool.
func Resulted(r Request) bool { return r.Messages[len(r.Messages)-1].Role == "tool" }

// Offered holds for a request that offers the tool.
func Offered(tool string) func(Request) bool {
	return func(r Request) bool {
		return slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Function.Name == tool })
	}
}

// Message is one message of a conversation as the client sent it.
type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
}

// Text returns the message's text, its parts joined if it has several.
func (m Message) Text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
	}
	return b.String()
}

// Tool is a tool that the client offered.
type Tool struct {
	Function Function `json:"function"`
}

// Function is how a tool is described to the model.
type Function struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is the JSON Schema of the arguments, as it was sent.
	Parameters json.RawMessage `json:"parameters"`
}

// Request is one request for a completion. It has at least one message.
type Request struct {
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools"`
	Stream   bool      `json:"stream"`
	// Raw is the whole body.
	Raw []byte `json:"-"`
}

// Model is a running fake.
type Model struct {
	listener net.Listener
	server   *http.Server
	closing  string

	mu       sync.Mutex
	steps    []Step // not taken yet
	requests []Request
	changed  chan struct{} // closed and replaced at each request
}

// Start starts a model that follows the script.
func Start(script Script) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{listener: listener, closing: script.Closing, steps: slices.Clone(script.Steps), changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"fake","object":"model","created":0,"owned_by":"test"}]}`)
	})
	m.server = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go m.server.Serve(listener)
	return m, nil
}

// URL returns the base URL for an OpenAI client.
func (m *Model) URL() string { return "http://" + m.listener.Addr().String() + "/v1" }

// Close ends the model.
func (m *Model) Close() { m.server.Close() }

// Requests returns what was received so far.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Left returns how many steps of the script were not taken so far.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// ToolResults returns the texts of the tool results the model was given, in the
// order of the last request that has any.
func (m *Model) ToolResults() []string {
	var results []string
	for _, request := range m.Requests() {
		var these []string
		for _, message := range request.Messages {
			if message.Role == "tool" {
				these = append(these, message.Text())
			}
		}
		if len(these) > 0 {
			results = these
		}
	}
	return results
}

// Wait returns when done holds for what was received, or with an error when ctx
// ends.
func (m *Model) Wait(ctx context.Context, done func([]Request) bool) error {
	for {
		m.mu.Lock()
		ok, changed := done(m.requests), m.changed
		m.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.New("the model has not been sent what the test waits for")
		}
	}
}

// next records a request and decides what to answer.
func (m *Model) next(request Request) ([]Call, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request)
	close(m.changed)
	m.changed = make(chan struct{})
	due := slices.IndexFunc(m.steps, func(s Step) bool { return s.When(request) })
	if due < 0 {
		return nil, m.closing
	}
	step := m.steps[due]
	m.steps = slices.Delete(m.steps, due, due+1)
	return step.Calls, step.Text
}

// complete answers one request for a completion.
func (m *Model) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	var request Request
	if err != nil || json.Unmarshal(body, &request) != nil || len(request.Messages) == 0 {
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return
	}
	request.Raw = body
	calls, text := m.next(request)
	if request.Stream {
		stream(w, calls, text)
	} else {
		whole(w, calls, text)
	}
}
