package fakemodel_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/fakemodel"
)

func ask(t *testing.T, model *fakemodel.Model, body string) (int, string) {
	t.Helper()
	response, err := http.Post(model.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(bytes.TrimSpace(answer))
}

func TestTheScriptIsFollowedOnce(t *testing.T) {
	model, err := fakemodel.Start(fakemodel.Script{Calls: []fakemodel.Call{{Tool: "search", Arguments: `{"query":"x"}`}}, Closing: "the end"})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	const tools = `"tools":[{"type":"function","function":{"name":"search","parameters":{}}}]`
	for _, c := range []struct{ name, body, want string }{
		{"an errand without tools", `{"messages":[{"role":"user","content":"title"}]}`, `"content":"the end"`},
		{"a person", `{"stream":true,` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, `"arguments":"{\"query\":\"x\"}"`},
		{"a tool result", `{` + tools + `,"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"found"}]}]}`, `"content":"the end"`},
		{"the person again", `{"stream":true,` + tools + `,"messages":[{"role":"user","content":"hi"}]}`, `"content":"the end"`},
	} {
		status, answer := ask(t, model, c.body)
		if status != http.StatusOK || !strings.Contains(answer, c.want) || strings.Contains(c.body, "stream") != strings.HasSuffix(answer, "data: [DONE]") {
			t.Errorf("%s: got %d, %s", c.name, status, answer)
		}
	}
	if got := model.ToolResults(); len(got) != 1 || got[0] != "found" || len(model.Requests()) != 4 {
		t.Errorf("got %q in %d requests", got, len(model.Requests()))
	}
	if status, _ := ask(t, model, `{}`); status != http.StatusBadRequest {
		t.Errorf("an empty request gets %d", status)
	}
}
