package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

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

// whole sends the answer as one completion.
func whole(w http.ResponseWriter, calls []Call, text string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(completion{"c", "chat.completion", 1, "fake",
		[]choice{{Message: &answer{"assistant", text, wireCalls(calls)}, Finish: finish(calls)}}, usage()})
}

// stream sends the answer as server-sent events.
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
