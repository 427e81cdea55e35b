package blackbox

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBadQueryIsExplainedAndNothingLeaves(t *testing.T) {
	s, fake := running(t)
	s.initialize()
	const (
		arguments = "context_search takes one argument, query, a string. Call it with query only."
		extra     = "context_search takes exactly one argument, query. Remove the other arguments and search again."
		missing   = "query is missing. Say what to search for in the argument query."
		notString = "query must be a string. Say in words what to search for."
		empty     = "query must not be empty or only whitespace. Say what to search for."
		long      = "query must be at most 2000 characters long. Shorten it and search again."
		surrogate = "query must be valid Unicode text without unpaired surrogates. Correct it and search again."
	)
	id := 0
	for _, c := range []struct{ name, arguments, want string }{
		{"no argument", `{}`, missing},
		{"null for arguments", `null`, arguments},
		{"a string for arguments", `"canary"`, arguments},
		{"an array for arguments", `["canary"]`, arguments},
		{"another argument", `{"canary":"canary"}`, arguments},
		{"a selector beside the query", `{"query":"canary","app_id":"canary"}`, extra},
		{"a limit beside the query", `{"query":"canary","limit":50}`, extra},
		{"query in another case", `{"Query":"canary"}`, arguments},
		{"query null", `{"query":null}`, notString},
		{"query a number", `{"query":42}`, notString},
		{"query an object", `{"query":{"canary":1}}`, notString},
		{"query an array", `{"query":["canary"]}`, notString},
		{"query empty", `{"query":""}`, empty},
		{"query only whitespace", `{"query":" \t\u3000\ufeff\n"}`, empty},
		{"query of 2001 code points", `{"query":"` + strings.Repeat("c", 2001) + `"}`, long},
		{"query of 2001 astral code points", `{"query":"` + strings.Repeat(`\ud83d\ude00`, 2001) + `"}`, long},
		{"query long only before folding", `{"query":"canary` + strings.Repeat(" ", 1995) + `"}`, long},
		{"high surrogate alone", `{"query":"canary \ud83d"}`, surrogate},
		{"low surrogate alone", `{"query":"\ude00 canary"}`, surrogate},
		{"surrogates in the wrong order", `{"query":"\ude00\ud83d"}`, surrogate},
		{"bytes that are not UTF-8", "{\"query\":\"canary \xff\"}", surrogate},
	} {
		id++
		got := s.search(id, c.arguments)
		if !got.isError || got.text != c.want || got.structured != nil {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
	if fake.Count() != 0 {
		t.Errorf("%d requests left", fake.Count())
	}
	s.silent("canary", strings.Repeat("c", 20))
}

func TestGoodQueryLeavesFolded(t *testing.T) {
	s, fake := running(t)
	s.initialize()
	long := strings.Repeat("😀", 2000)
	id := 0
	for _, c := range []struct{ name, query, want string }{
		{"plain", `how do we deploy`, "how do we deploy"},
		{"folded", `  how\n\tdo\u00a0\u3000we deploy\ufeff`, "how do we deploy"},
		{"next line and zero-width space stay", `a\u0085\u200bb`, "a\u0085\u200bb"},
		{"an escaped pair is one character", `\ud83d\ude00`, "😀"},
		{"2000 astral code points", long, long},
		{"markup and quotes", `<b>&\"\\`, `<b>&"\`},
		{"control characters that are no whitespace", `a\u0000\u001fb`, "a\x00\x1fb"},
	} {
		id++
		if got := s.search(id, `{"query":"`+c.query+`"}`); got.isError {
			t.Errorf("%s: %s", c.name, got.text)
			continue
		}
		requests := fake.Requests()
		var body struct {
			Query string
			Limit int
		}
		if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(requests) != id || body.Query != c.want || body.Limit != 5 {
			t.Errorf("%s: request %d of %d is %+v, want %q", c.name, len(requests), id, body, c.want)
		}
	}
}

func TestProtocolErrorsDoNotRepeatWhatWasSent(t *testing.T) {
	s, fake := running(t)
	s.initialize()
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"canary/canary","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"canary","arguments":{"query":"canary"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":"canary"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":7,"arguments":"canary"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"canary"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":["canary"]}}`,
		`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"canary:canary"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"canary"}}`,
	} {
		s.send(line)
		frame := s.next()
		failure, ok := frame["error"].(map[string]any)
		if !ok || frame["id"] != float64(i+1) || failure["message"] == "" {
			t.Errorf("%s: got %v, want an error", line, frame)
		}
	}
	if fake.Count() != 0 {
		t.Errorf("%d requests left", fake.Count())
	}
	s.silent("canary")
}

func TestALineThatIsNoFrameIsAnsweredAndTheSessionGoesOn(t *testing.T) {
	s, _ := running(t)
	s.initialize()
	for _, c := range []struct {
		name, line string
		code       float64
	}{
		{"not JSON", `canary`, -32700},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"tools/`, -32700},
		{"two frames on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"canary":1}`, -32700},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600},
		{"a string", `"canary"`, -32600},
		{"no version", `{"id":1,"method":"ping"}`, -32600},
		{"an id of no kind", `{"jsonrpc":"2.0","id":{"canary":1},"method":"ping"}`, -32600},
		{"one byte over a mebibyte", `{"canary":"` + strings.Repeat("c", 1<<20+1-13) + `"}`, -32700},
		{"far over a mebibyte", strings.Repeat("canary", 1<<20), -32700},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.send(c.line)
			frame := s.next()
			failure, _ := frame["error"].(map[string]any)
			if frame["id"] != nil || failure["code"] != c.code {
				t.Errorf("got %v, want error %v without an id", frame, c.code)
			}
		})
	}
	s.send("\n \r")
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
	s.send(`{"jsonrpc":"2.0","id":"a string","result":{}}`)
	if got := s.search(50, `{"query":"still there"}`); got.isError {
		t.Errorf("got %+v after bad lines", got)
	}
	s.silent("canary")
}

func TestAFrameOfExactlyAMebibyteIsRead(t *testing.T) {
	s, _ := running(t)
	s.initialize()
	frame := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`
	s.send(frame + strings.Repeat("c", 1<<20-len(frame)-3) + `"}}`)
	if got := s.next(); got["id"] != float64(1) || got["error"] != nil {
		t.Errorf("got %v", got)
	}
}
