// Package fakemodel is a model for tests of real MCP clients: an OpenAI-compatible
// server on loopback that follows a short script and records what it was sent.
//
// It knows the wire form of chat completions and nothing of the product. It cannot
// loop: it calls tools once, and only in answer to a person.
package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
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

// Script is what the model does: the calls, in one answer, to the first message of
// a person; after that the closing text, always.
type Script struct {
	Calls   []Call
	Closing string
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
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Request is one request for a completion.
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
	script   Script

	mu       sync.Mutex
	called   bool
	requests []Request
	changed  chan struct{} // closed and replaced at each request
}

// Start starts a model that follows the script.
func Start(script Script) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{listener: listener, script: script, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
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
	return append([]Request(nil), m.requests...)
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

// next records a request and decides what to answer. A request without tools is
// one of the client's own errands, such as a title for the conversation.
func (m *Model) next(request Request) ([]Call, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request)
	close(m.changed)
	m.changed = make(chan struct{})
	last := request.Messages[len(request.Messages)-1]
	if m.called || len(request.Tools) == 0 || last.Role != "user" {
		return nil, m.script.Closing
	}
	m.called = true
	if len(m.script.Calls) == 0 {
		return nil, m.script.Closing
	}
	return m.script.Calls, ""
}

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

// wireCall is a tool call in its wire form.
type wireCall struct {
	Index    int      `json:"index"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function wireFunc `json:"function"`
}

type wireFunc struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func wireCalls(calls []Call) []wireCall {
	var wire []wireCall
	for i, call := range calls {
		wire = append(wire, wireCall{i, fmt.Sprintf("call_%d", i+1), "function", wireFunc{call.Tool, call.Arguments}})
	}
	return wire
}

// answer is a message or a part of one.
type answer struct {
	Role    string     `json:"role,omitempty"`
	Content string     `json:"content,omitempty"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
}

type choice struct {
	Index   int     `json:"index"`
	Message *answer `json:"message,omitempty"`
	Delta   *answer `json:"delta,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type completion struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int            `json:"created"`
	Model   string         `json:"model"`
	Choices []choice       `json:"choices"`
	Usage   map[string]int `json:"usage,omitempty"`
}

func finish(calls []Call) *string {
	reason := "stop"
	if len(calls) > 0 {
		reason = "tool_calls"
	}
	return &reason
}

func usage() map[string]int {
	return map[string]int{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
}

func whole(w http.ResponseWriter, calls []Call, text string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(completion{"c", "chat.completion", 1, "fake",
		[]choice{{Message: &answer{"assistant", text, wireCalls(calls)}, Finish: finish(calls)}}, usage()})
}

func stream(w http.ResponseWriter, calls []Call, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range []completion{
		{Choices: []choice{{Delta: &answer{"assistant", text, wireCalls(calls)}}}},
		{Choices: []choice{{Delta: &answer{}, Finish: finish(calls)}}},
		{Choices: []choice{}, Usage: usage()},
	} {
		c.ID, c.Object, c.Created, c.Model = "c", "chat.completion.chunk", 1, "fake"
		event, err := json.Marshal(c)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
