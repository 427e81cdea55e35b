package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"external-context.internal/appliance/src/envelope"
)

var generic = genericHTTPSearch("https://a.example", fakeCredential()).response

// ids returns the ids of items in order.
func ids(items []envelope.Item) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString(item.ID.String())
	}
	return b.String()
}

func TestOnlyUsableItemsAreKeptInOrder(t *testing.T) {
	const ok = `{"id":"%s","content":"c"}`
	item := func(id string) string { return fmt.Sprintf(ok, id) }
	for _, c := range []struct{ name, items, want string }{
		{"none", ``, ""},
		{"all", item("a") + "," + item("b"), "ab"},
		{"the first five", strings.Join([]string{item("a"), item("b"), item("c"), item("d"), item("e"), item("f")}, ","), "abcde"},
		{"the first five usable", strings.Join([]string{`{}`, item("a"), `null`, item("b"), item("c"), `[]`, item("d"), item("e"), item("f")}, ","), "abcde"},
		{"no object", `null,true,1,"x",[],` + item("a"), "a"},
		{"no id", `{"content":"c"},` + item("a"), "a"},
		{"empty id", item("") + "," + item("a"), "a"},
		{"id of another type", `{"id":1,"content":"c"},{"id":null,"content":"c"},{"id":["x"],"content":"c"},` + item("a"), "a"},
		{"no content", `{"id":"x"},` + item("a"), "a"},
		{"empty content", `{"id":"x","content":""},` + item("a"), "a"},
		{"content of another type", `{"id":"x","content":{"t":"c"}},` + item("a"), "a"},
		{"whitespace is content", `{"id":" ","content":" "}`, " "},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, err := generic.items([]byte(`{"items":[`+c.items+`]}`), 5)
			if err != nil || ids(items) != c.want {
				t.Errorf("got %q, %v, want %q", ids(items), err, c.want)
			}
		})
	}
}

func TestOptionalMembersOfAnotherTypeAreDroppedAlone(t *testing.T) {
	items, err := generic.items([]byte(`{"items":[{"id":"a","content":"c","title":1,"uri":null,"score":"0.5","updated_at":[],"updatedAt":{}},
		{"id":"b","content":"c","title":"t","uri":"u","score":-1.5e2,"updated_at":"","updatedAt":"then","more":{"id":"x"}}]}`), 5)
	if err != nil || len(items) != 2 {
		t.Fatalf("got %v, %v", items, err)
	}
	if a := items[0]; a.Title != nil || a.URI != nil || a.Score != nil || a.UpdatedAt != nil {
		t.Errorf("got %+v", a)
	}
	if b := items[1]; b.Title.String() != "t" || b.URI.String() != "u" || *b.Score != -150 || b.UpdatedAt.String() != "then" {
		t.Errorf("got %+v", b)
	}
}

func TestScoreMustBeAFiniteNumber(t *testing.T) {
	for score, kept := range map[string]bool{"0": true, "-0.5": true, "1e308": true, "1e-400": true, "1e400": false, "-1e400": false,
		"true": false, "null": false, `"1"`: false, "[1]": false} {
		items, err := generic.items([]byte(`{"items":[{"id":"a","content":"c","score":`+score+`}]}`), 5)
		if err != nil || len(items) != 1 || (items[0].Score != nil) != kept {
			t.Errorf("score %s: got %v, %v, want kept: %v", score, items, err, kept)
		}
	}
}

func TestMem0TextIsInMemoryAndItHasNoTitleOrURI(t *testing.T) {
	shape := mem0Search("a", fakeCredential()).response
	items, err := shape.items([]byte(`{"results":[{"id":"a","memory":"m","content":"no","title":"no","uri":"no","\ufffd":"no","score":1,"updated_at":"u"}]}`), 5)
	if err != nil || len(items) != 1 {
		t.Fatalf("got %v, %v", items, err)
	}
	if i := items[0]; i.Content.String() != "m" || i.Title != nil || i.URI != nil || *i.Score != 1 || i.UpdatedAt.String() != "u" {
		t.Errorf("got %+v", i)
	}
}

func TestWhatIsNoEnvelopeIsABadResponse(t *testing.T) {
	for _, body := range []string{``, ` `, `null`, `[]`, `1`, `"x"`, `{}`, `{"items":null}`, `{"items":{}}`, `{"items":"[]"}`, `{"Items":[]}`,
		`{"items":[]`, `{"items":[]}}`, `{"items":[]} x`, `{"items":[{"id":"a","content":"c"}],"items":null}`, `{"items":[,]}`, `{"items":[{"id":"a" "content":"c"}]}`,
		`{"items":[{"id":"\x","content":"c"}]}`, `{"items":[]}{"items":[]}`, `{'items':[]}`} {
		items, err := generic.items([]byte(body), 5)
		if failure, ok := err.(*Error); !ok || failure.Class != ClassBadResponse {
			t.Errorf("%s: got %v, %v, want a bad response", body, items, err)
		}
	}
}

func TestErrorsNameTheirClassOnly(t *testing.T) {
	for want, err := range map[string]*Error{
		"timeout": {Class: ClassTimeout}, "HTTP 5xx": {Class: ClassStatus, Status: 503}, "HTTP 1xx": {Class: ClassStatus, Status: 101},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err.Error(), want)
		}
	}
}

func FuzzResponseNeverPanicsAndKeepsOnlyUsableItems(f *testing.F) {
	for _, body := range chosenBodies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		body, err := checked(body)
		if err != nil {
			return
		}
		items, err := generic.items(body, 5)
		if (err == nil) && !json.Valid(body) {
			t.Errorf("took %q, which the standard library does not", body)
		}
		if len(items) > 5 {
			t.Errorf("kept %d items", len(items))
		}
		for _, item := range items {
			if len(item.ID) == 0 || len(item.Content) == 0 {
				t.Errorf("kept %+v", item)
			}
		}
		if text := envelope.Build(items); !json.Valid(text) {
			t.Errorf("the envelope is no JSON: %s", text)
		}
	})
}
