package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/src/envelope"
	"external-context.internal/appliance/src/jstext"
	"external-context.internal/appliance/testing/need"
)

// TestEnvelopeHasTheBytesOfJSONStringify holds the whole way from response body
// to envelope text against an independent reading of the contract in JavaScript.
func TestEnvelopeHasTheBytesOfJSONStringify(t *testing.T) {
	node := need.AnyNode(t)
	const seed, generated = 20260723, 3000
	bodies := append(chosenBodies(), generateBodies(rand.New(rand.NewPCG(seed, 1)), generated)...)

	cmd := exec.CommandContext(t.Context(), node, "testdata/envelope.mjs")
	cmd.Stdin = strings.NewReader(encodeLines(t, bodies))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(lines) != len(bodies) {
		t.Fatalf("got %d envelopes for %d bodies", len(lines), len(bodies))
	}
	shortened := 0
	for i, body := range bodies {
		var want string
		if err := json.Unmarshal(lines[i], &want); err != nil {
			t.Fatal(err)
		}
		got := goEnvelope(t, body)
		if got != want {
			t.Fatalf("seed %d, body %d: %s\n got %s\nwant %s", seed, i, body, got, want)
		}
		if jstext.Units([]byte(got)) > envelope.MaxUnits-12 {
			shortened++
		}
	}
	// The comparison is only worth something if the budget was met often.
	if shortened < generated/10 {
		t.Errorf("only %d of %d envelopes were near the budget", shortened, len(bodies))
	}
}

func goEnvelope(t *testing.T, body string) string {
	t.Helper()
	items, err := genericHTTPSearch("", fakeCredential()).response.items([]byte(body), 5)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return string(envelope.Build(items))
}

func encodeLines(t *testing.T, bodies []string) string {
	t.Helper()
	var b strings.Builder
	for _, body := range bodies {
		line, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// chosenBodies are the cases a generator may miss.
func chosenBodies() []string {
	var bodies []string
	for _, number := range []string{"0", "-0", "0.0", "1", "-1", "0.1", "1e21", "1e20", "123456789012345680000", "1e-7", "1e-6",
		"0.000001", "0.00000123", "5e-324", "1.7976931348623157e308", "1e400", "-1e400", "1e-400", "0.30000000000000004",
		"100", "1E2", "-1.5e-10", "9007199254740993", "3.0", "true", "null", `"1"`, "[1]", "{}"} {
		bodies = append(bodies, `{"items":[{"id":"n","content":"c","score":`+number+`}]}`)
	}
	for r := 0; r < 0x100; r++ {
		bodies = append(bodies, fmt.Sprintf(`{"items":[{"id":"\u%04x","content":"<\u%04x>"}]}`, r, r))
	}
	for _, text := range []string{`\u2028\u2029`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ude00\ud83d`, `\ud83d\ud83d\ude00`,
		`e\u0301`, `<script>&amp;</script>`, `\/`, `\uffff\ufeff`, `👩‍👩‍👧‍👦`, `\u007f\u0080\u009f`} {
		bodies = append(bodies, `{"items":[{"id":"`+text+`","content":"`+text+`","title":"`+text+`","uri":"`+text+`","updated_at":"`+text+`"}]}`)
	}
	return append(bodies,
		`{"items":[]}`,
		`{"items":[],"items":[{"id":"the last duplicate wins","content":"c"}]}`,
		`{"items":[{"id":"a","id":"b","content":"c"}]}`,
		`{"items":[{"id":"a","content":"c","updated_at":"one","updatedAt":"two"}]}`,
		`{"items":[{"id":"a","content":"c","updated_at":7,"updatedAt":"two"}]}`,
		`{"items":[null,1,"x",[],[{}],{},{"id":""},{"id":"a"},{"content":"c"},{"id":1,"content":"c"},{"id":"a","content":""},{"id":"a","content":"kept","title":1,"uri":[],"score":"1","updated_at":{}}]}`,
		"{\"items\":\t[ {\r\n\"id\" : \"spaced\" , \"content\":\"c\"} ] } ",
		`{"items":[{"ID":"a","id":"exact case only","Content":"x","content":"c"}]}`,
		`{"items":[{"id":"`+strings.Repeat("<", 200)+`","content":"`+strings.Repeat(`\u0001`, 1500)+`"},{"id":"b","content":"c"}]}`)
}

// generateBodies makes response bodies that press on every bound.
func generateBodies(random *rand.Rand, count int) []string {
	bodies := make([]string, count)
	for i := range bodies {
		items := make([]string, random.IntN(8))
		for j := range items {
			items[j] = generateItem(random)
		}
		bodies[i] = `{"items":[` + strings.Join(items, ",") + `]}`
	}
	return bodies
}

func generateItem(random *rand.Rand) string {
	members := []string{
		`"id":` + generateString(random, 140),
		`"content":` + generateString(random, 1100),
	}
	optional := []string{
		`"title":` + generateString(random, 220),
		`"uri":` + generateString(random, 520),
		fmt.Sprintf(`"score":%v`, random.NormFloat64()*float64(random.IntN(3))),
		`"updated_at":` + generateString(random, 70),
		`"updatedAt":` + generateString(random, 70),
		`"title":7`,
	}
	for _, member := range optional {
		if random.IntN(2) == 0 {
			members = append(members, member)
		}
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

// generateString returns a JSON string literal of up to limit pieces.
func generateString(random *rand.Rand, limit int) string {
	pieces := []string{"a", " ", "é", "日", "😀", `\ud83d\ude00`, `\ud83d`, `\ude00`, "<", ">", "&", `\"`, `\\`, `\n`, `\u0000`,
		`\u001f`, "\u2028", `\u2029`, "e\u0301", "\u200d", "/", `\/`}
	length := random.IntN(limit)
	if random.IntN(3) == 0 {
		length = limit - random.IntN(limit/5) // near the bound
	}
	plain := random.IntN(3) == 0
	var b strings.Builder
	b.WriteByte('"')
	for range length {
		if plain {
			b.WriteString("word "[random.IntN(5):][:1])
		} else {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
	}
	b.WriteByte('"')
	return b.String()
}

// fakeCredential is no secret.
func fakeCredential() config.Secret { return config.NewSecret("fake-credential") }
