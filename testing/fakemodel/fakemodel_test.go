package fakemodel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/fakemodel"
	"github.com/google/go-cmp/cmp"
)

func start(t *testing.T, steps ...fakemodel.Step) *fakemodel.Model {
	t.Helper()
	model, err := fakemodel.Start(fakemodel.Script{Steps: steps, Closing: "the end"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return model
}

// said is what a client reads out of an answer.
type said struct {
	Text, Finish string
	Calls        []fakemodel.Call
}

// frame is an answer, or one event of a streamed one.
type frame struct {
	Choices []struct {
		Message, Delta struct {
			Content string
			Calls   []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
}

func (s *said) add(t *testing.T, text string) {
	t.Helper()
	var f frame
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, c := range f.Choices {
		s.Text += c.Message.Content + c.Delta.Content
		s.Finish += c.Finish
		for _, call := range append(c.Message.Calls, c.Delta.Calls...) {
			s.Calls = append(s.Calls, fakemodel.Call{Tool: call.Function.Name, Arguments: call.Function.Arguments})
		}
	}
}

// ask sends a request, streamed and whole alike, and reads the answer.
func ask(t *testing.T, model *fakemodel.Model, body string) said {
	t.Helper()
	response, err := http.Post(model.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d", response.StatusCode)
	}
	var got said
	if response.Header.Get("Content-Type") == "application/json" {
		whole, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		got.add(t, string(whole))
		return got
	}
	ended := false
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		event, isEvent := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case event == "[DONE]":
			ended = true
		case isEvent && !ended:
			got.add(t, event)
		case lines.Text() != "":
			t.Errorf("a stray line: %s", lines.Text())
		}
	}
	if !ended {
		t.Error("the stream has no end")
	}
	return got
}

const (
	tools  = `"tools":[{"type":"function","function":{"name":"search","description":"Searches.","parameters":{"type":"object"}}}]`
	person = `{"role":"user","content":[{"type":"text","text":"<reminder>"},{"type":"text","text":"find it"}]}`
	result = `{"role":"tool","tool_call_id":"call_1","content":"found"}`
)

func TestEachStepIsTakenOnceAndErrandsTakeNone(t *testing.T) {
	calls := []fakemodel.Call{{Tool: "search", Arguments: `{"query": "<x>"`}, {Tool: "search", Arguments: `{}`}}
	for _, streamed := range []string{`"stream":true,`, ``} {
		model := start(t,
			fakemodel.Step{When: fakemodel.Asked("find it"), Calls: calls},
			fakemodel.Step{When: fakemodel.Resulted, Text: "half way"},
			fakemodel.Step{When: fakemodel.Offered("judge"), Calls: []fakemodel.Call{{Tool: "judge", Arguments: `{"ok":true}`}}})
		end := said{Text: "the end", Finish: "stop"}
		for _, c := range []struct {
			name, body string
			want       said
		}{
			{"an errand without tools", `"messages":[{"role":"user","content":"a title, please"}]`, end},
			{"an errand with tools", tools + `,"messages":[` + person + `,{"role":"user","content":"remember what matters"}]`, end},
			{"a person", tools + `,"messages":[` + person + `]`, said{Calls: calls, Finish: "tool_calls"}},
			{"a judgement", `"tools":[{"function":{"name":"judge"}}],"messages":[{"role":"user","content":"is it safe?"}]`,
				said{Calls: []fakemodel.Call{{Tool: "judge", Arguments: `{"ok":true}`}}, Finish: "tool_calls"}},
			{"a result", tools + `,"messages":[` + person + `,` + result + `]`, said{Text: "half way", Finish: "stop"}},
			{"another result", tools + `,"messages":[` + person + `,` + result + `]`, end},
			{"the person again", tools + `,"messages":[` + person + `]`, end},
		} {
			if diff := cmp.Diff(c.want, ask(t, model, `{`+streamed+c.body+`}`)); diff != "" {
				t.Errorf("%s (%s): %s", c.name, streamed, diff)
			}
		}
		if model.Left() != 0 {
			t.Errorf("%d steps are left", model.Left())
		}
	}
}

func TestWhatTheModelWasSentIsRecorded(t *testing.T) {
	model := start(t)
	if model.ToolResults() != nil {
		t.Error("results before anything was sent")
	}
	ask(t, model, `{`+tools+`,"messages":[`+person+`,`+result+`,{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`)
	ask(t, model, `{"messages":[{"role":"user","content":"a title, please"}]}`)
	if diff := cmp.Diff([]string{"found", "ab"}, model.ToolResults()); diff != "" {
		t.Error(diff)
	}
	requests := model.Requests()
	if len(requests) != 2 || len(requests[0].Tools) != 1 || len(requests[0].Messages) != 3 || !json.Valid(requests[0].Raw) {
		t.Fatalf("recorded: %+v", requests)
	}
	want := fakemodel.Function{Name: "search", Description: "Searches.", Parameters: json.RawMessage(`{"type":"object"}`)}
	if diff := cmp.Diff(want, requests[0].Tools[0].Function); diff != "" {
		t.Error(diff)
	}
}

func TestARequestWithoutAMessageIsRefusedAndTakesNoStep(t *testing.T) {
	model := start(t, fakemodel.Step{When: func(fakemodel.Request) bool { return true }, Text: "x"})
	for _, body := range []string{``, `{`, `[]`, `{"messages":[]}`} {
		response, err := http.Post(model.URL()+"/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%q gets %d", body, response.StatusCode)
		}
	}
	if model.Left() != 1 || len(model.Requests()) != 0 {
		t.Errorf("%d steps left, %d requests", model.Left(), len(model.Requests()))
	}
}

func TestOneModelIsListed(t *testing.T) {
	response, err := http.Get(start(t).URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || len(list.Data) != 1 || list.Data[0].ID != "fake" {
		t.Errorf("listed: %+v, %v", list, err)
	}
}

func TestWaitSeesWhatComesAndEndsWithItsContext(t *testing.T) {
	model := start(t)
	one := func(requests []fakemodel.Request) bool { return len(requests) == 1 }
	ended, end := context.WithCancel(t.Context())
	end()
	if model.Wait(ended, one) == nil {
		t.Error("it has seen what was not sent")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := make(chan error, 1)
	go func() { seen <- model.Wait(ctx, one) }()
	ask(t, model, `{"messages":[`+person+`]}`)
	if err := <-seen; err != nil {
		t.Error(err)
	}
}
