// Package configcases is the table of configurations that must be accepted and
// refused (contract section 2), each refused one with its exact line. The
// parser, the published schema and the whole program are held against it.
package configcases

import (
	"fmt"
	"strings"
)

// Placeholder stands in a case's text wherever a value, secret, address or name is
// free. A test puts a canary there and looks for it in what comes out.
const Placeholder = "CANARY"

// Case is one configuration.
type Case struct {
	Name string
	// Text is the file's content, with [Placeholder] in it.
	Text string
	// Line is what stderr must hold, or "" if the configuration is accepted.
	Line string
	// SchemaCannotSay tells why a JSON Schema accepts a refused case, or is "".
	SchemaCannotSay string
}

// With returns the text with the canary in the placeholder's place.
func (c Case) With(canary string) string { return strings.ReplaceAll(c.Text, Placeholder, canary) }

const (
	mem0       = `{"type":"mem0-platform-v3","apiKeyEnv":"KEY_CANARY","appId":"app CANARY"}`
	generic    = `{"type":"generic-http-search-v1","baseUrl":"https://CANARY.example.com","tokenEnv":"TOKEN_CANARY"}`
	autoRecall = `"autoRecall":{"repositoryRoot":"/srv/CANARY"}`
)

// Accepted returns the configurations on the good side of every rule.
func Accepted() []Case {
	cases := []Case{
		{Name: "version 1, mem0", Text: `{"version":1,"provider":` + mem0 + `}`},
		{Name: "version 1, mem0 with write", Text: `{"version":1,"write":{"enabled":true},"provider":` + mem0 + `}`},
		{Name: "version 1, generic", Text: `{"version":1,"provider":` + generic + `}`},
		{Name: "version 2", Text: `{"version":2,` + autoRecall + `,"provider":` + generic + `}`},
		{Name: "version 2 with an ignored timeoutMs", Text: `{"version":2,"timeoutMs":30000,` + autoRecall + `,"provider":` + mem0 + `}`},
		{Name: "members in any order, blanks anywhere", Text: "\n{ \"provider\" :\t" + generic + " ,\r\n \"version\" : 1 } \n"},
		{Name: "an integer with a fraction of zero", Text: `{"version":1.0,"timeoutMs":5e3,"provider":` + mem0 + `}`},
		{Name: "names written with escapes", Text: `{"\u0076ersion":1,"provider":` + mem0 + `}`},
	}
	for _, ms := range []int{1, 2, 29999, 30000} {
		cases = append(cases, Case{Name: fmt.Sprintf("timeoutMs %d", ms), Text: fmt.Sprintf(`{"version":1,"timeoutMs":%d,"provider":%s}`, ms, mem0)})
	}
	for _, ms := range []int{1, 4999, 5000} {
		cases = append(cases, Case{Name: fmt.Sprintf("autoRecall.timeoutMs %d", ms),
			Text: fmt.Sprintf(`{"version":2,"autoRecall":{"repositoryRoot":"/srv/r","timeoutMs":%d},"provider":%s}`, ms, generic)})
	}
	for _, appID := range []string{"a", " a ", strings.Repeat("a", 256), strings.Repeat("😀", 256), `\u3000` + strings.Repeat("é", 256) + `\ufeff`, `a\u0000b`} {
		cases = append(cases, Case{Name: "appId " + appID, Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"` + appID + `"}}`})
	}
	for _, name := range []string{"K", "_", "_k9", "MEM0_API_KEY", "k"} {
		cases = append(cases, Case{Name: "apiKeyEnv " + name, Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"` + name + `","appId":"a"}}`})
	}
	for _, origin := range []string{
		"https://a", "https://a/", "https://example.com", "https://example.com.", "HTTPS://Example.COM", "https://a-b_c.example.com:1",
		"https://a:65535", "https://10.0.0.1:8443", "https://[2001:db8::1]", "https://[2001:db8::1]:8443/", "https://[::2:3:4:5:6:7:8]", "https://[1:2:3:4:5:6:7::]", "https://xn--bcher-kva.example",
		"http://localhost", "http://LOCALHOST:8080", "http://127.0.0.1", "http://127.0.0.1:8080/", "http://[::1]", "http://[::1]:8080",
		"https://localhost", "https://" + strings.Repeat("a", 63) + ".example", "https://" + strings.Repeat("a.", 126) + "a",
	} {
		cases = append(cases, Case{Name: "baseUrl " + origin, Text: `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"` + origin + `","tokenEnv":"T"}}`})
	}
	return cases
}

// config is the line for a rule about a member.
func config(rule string) string { return "External context config: " + rule + "." }

const notJSON = "External context config is not valid JSON."

// Rejected returns the configurations on the bad side of every rule.
func Rejected() []Case {
	cases := []Case{
		{Name: "empty file", Text: ``, Line: notJSON},
		{Name: "only blanks", Text: " \n", Line: notJSON},
		{Name: "not JSON", Text: `CANARY`, Line: notJSON},
		{Name: "unfinished", Text: `{"version":1,"provider":` + mem0, Line: notJSON},
		{Name: "trailing data", Text: `{"version":1,"provider":` + mem0 + `} "CANARY"`, Line: notJSON},
		{Name: "two documents", Text: `{"version":1,"provider":` + mem0 + `}{"CANARY":1}`, Line: notJSON},
		{Name: "a comment", Text: "{\"version\":1, // CANARY\n\"provider\":" + mem0 + `}`, Line: notJSON},
		{Name: "a trailing comma", Text: `{"version":1,"provider":` + mem0 + `,}`, Line: notJSON},
		{Name: "single quotes", Text: `{'CANARY':1}`, Line: notJSON},
		{Name: "a byte order mark", Text: "\ufeff" + `{"version":1,"provider":` + mem0 + `}`, Line: notJSON},
		{Name: "UTF-16", Text: "\xff\xfe{\x00}\x00", Line: notJSON},
		{Name: "invalid UTF-8 in a value", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"CANARY` + "\xff" + `"}}`, Line: notJSON},
		{Name: "invalid UTF-8 in a name", Text: "{\"CANARY\xc3\":1}", Line: notJSON},
		{Name: "an unpaired surrogate", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"CANARY\ud800"}}`, Line: notJSON},
		{Name: "a raw control character", Text: "{\"version\":1,\"provider\":{\"type\":\"CANARY\n\"}}", Line: notJSON},
		{Name: "deeper than any parser should go", Text: strings.Repeat(`[`, 20000), Line: notJSON},
		{Name: "NaN", Text: `{"version":NaN}`, Line: notJSON},
		{Name: "a number with a leading zero", Text: `{"version":01}`, Line: notJSON},

		{Name: "an array", Text: `["CANARY"]`, Line: config("top level must be an object")},
		{Name: "a string", Text: `"CANARY"`, Line: config("top level must be an object")},
		{Name: "null", Text: `null`, Line: config("top level must be an object")},
		{Name: "unknown member", Text: `{"version":1,"CANARY":"CANARY","provider":` + mem0 + `}`, Line: config("top level has an unknown member")},
		{Name: "a member in another case", Text: `{"Version":1,"provider":` + mem0 + `}`, Line: config("top level has an unknown member")},
		{Name: "duplicate member", Text: `{"version":1,"provider":` + mem0 + `,"provider":` + generic + `}`, Line: config("provider is given twice"), SchemaCannotSay: "duplicates are gone before a schema sees the document"},
		{Name: "duplicate member written with escapes", Text: `{"version":1,"\u0076ersion":1,"provider":` + mem0 + `}`, Line: config("version is given twice"), SchemaCannotSay: "duplicates are gone before a schema sees the document"},
		{Name: "duplicate member with the same value, deeper", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"CANARY","appId":"CANARY","appId":"CANARY"}}`, Line: config("provider.appId is given twice"), SchemaCannotSay: "duplicates are gone before a schema sees the document"},

		{Name: "no version", Text: `{"provider":` + mem0 + `}`, Line: config("version is required")},
		{Name: "version 0", Text: `{"version":0,"provider":` + mem0 + `}`, Line: config("version must be 1 or 2")},
		{Name: "version 3", Text: `{"version":3,"provider":` + mem0 + `}`, Line: config("version must be 1 or 2")},
		{Name: "version as a string", Text: `{"version":"1","provider":` + mem0 + `}`, Line: config("version must be an integer")},
		{Name: "version with a fraction", Text: `{"version":1.5,"provider":` + mem0 + `}`, Line: config("version must be an integer")},
		{Name: "version null", Text: `{"version":null,"provider":` + mem0 + `}`, Line: config("version must be an integer")},
		{Name: "version beyond any integer", Text: `{"version":1e400,"provider":` + mem0 + `}`, Line: config("version must be an integer")},

		{Name: "timeoutMs 0", Text: `{"version":1,"timeoutMs":0,"provider":` + mem0 + `}`, Line: config("timeoutMs must be from 1 to 30000")},
		{Name: "timeoutMs 30001", Text: `{"version":1,"timeoutMs":30001,"provider":` + mem0 + `}`, Line: config("timeoutMs must be from 1 to 30000")},
		{Name: "timeoutMs negative", Text: `{"version":1,"timeoutMs":-5000,"provider":` + mem0 + `}`, Line: config("timeoutMs must be from 1 to 30000")},
		{Name: "timeoutMs as a string", Text: `{"version":1,"timeoutMs":"CANARY","provider":` + mem0 + `}`, Line: config("timeoutMs must be an integer")},
		{Name: "timeoutMs with a fraction", Text: `{"version":1,"timeoutMs":1.5,"provider":` + mem0 + `}`, Line: config("timeoutMs must be an integer")},
		{Name: "timeoutMs out of range in version 2", Text: `{"version":2,"timeoutMs":30001,` + autoRecall + `,"provider":` + mem0 + `}`, Line: config("timeoutMs must be from 1 to 30000")},

		{Name: "write false", Text: `{"version":1,"write":false,"provider":` + mem0 + `}`, Line: config("write must be an object")},
		{Name: "write null", Text: `{"version":1,"write":null,"provider":` + mem0 + `}`, Line: config("write must be an object")},
		{Name: "write empty", Text: `{"version":1,"write":{},"provider":` + mem0 + `}`, Line: config("write.enabled is required")},
		{Name: "write not enabled", Text: `{"version":1,"write":{"enabled":false},"provider":` + mem0 + `}`, Line: config("write.enabled must be true")},
		{Name: "write enabled by a string", Text: `{"version":1,"write":{"enabled":"CANARY"},"provider":` + mem0 + `}`, Line: config("write.enabled must be true or false")},
		{Name: "write with another member", Text: `{"version":1,"write":{"enabled":true,"CANARY":1},"provider":` + mem0 + `}`, Line: config("write has an unknown member")},
		{Name: "write with Generic HTTP", Text: `{"version":1,"write":{"enabled":true},"provider":` + generic + `}`, Line: config("write is only for a mem0-platform-v3 provider")},
		{Name: "write in version 2", Text: `{"version":2,"write":{"enabled":true},` + autoRecall + `,"provider":` + mem0 + `}`, Line: config("write is only for version 1")},

		{Name: "autoRecall in version 1", Text: `{"version":1,` + autoRecall + `,"provider":` + mem0 + `}`, Line: config("autoRecall is only for version 2")},
		{Name: "no autoRecall in version 2", Text: `{"version":2,"provider":` + mem0 + `}`, Line: config("autoRecall is required")},
		{Name: "autoRecall not an object", Text: `{"version":2,"autoRecall":"CANARY","provider":` + mem0 + `}`, Line: config("autoRecall must be an object")},
		{Name: "autoRecall with another member", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/srv","CANARY":1},"provider":` + mem0 + `}`, Line: config("autoRecall has an unknown member")},
		{Name: "no repositoryRoot", Text: `{"version":2,"autoRecall":{},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot is required")},
		{Name: "relative repositoryRoot", Text: `{"version":2,"autoRecall":{"repositoryRoot":"srv/CANARY"},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot must be an absolute path")},
		{Name: "empty repositoryRoot", Text: `{"version":2,"autoRecall":{"repositoryRoot":""},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot must be an absolute path")},
		{Name: "repositoryRoot with a NUL", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/srv/CANARY\u0000"},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot must be an absolute path")},
		{Name: "repositoryRoot is the filesystem root", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/"},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot must not be the filesystem root")},
		{Name: "repositoryRoot is the filesystem root by dots", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/CANARY/.."},"provider":` + mem0 + `}`, Line: config("autoRecall.repositoryRoot must not be the filesystem root"), SchemaCannotSay: "a pattern does not resolve dots"},
		{Name: "autoRecall.timeoutMs 0", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/srv","timeoutMs":0},"provider":` + mem0 + `}`, Line: config("autoRecall.timeoutMs must be from 1 to 5000")},
		{Name: "autoRecall.timeoutMs 5001", Text: `{"version":2,"autoRecall":{"repositoryRoot":"/srv","timeoutMs":5001},"provider":` + mem0 + `}`, Line: config("autoRecall.timeoutMs must be from 1 to 5000")},

		{Name: "no provider", Text: `{"version":1}`, Line: config("provider is required")},
		{Name: "provider not an object", Text: `{"version":1,"provider":["CANARY"]}`, Line: config("provider must be an object")},
		{Name: "no provider type", Text: `{"version":1,"provider":{"apiKeyEnv":"CANARY","appId":"CANARY"}}`, Line: config("provider.type is required")},
		{Name: "unknown provider type", Text: `{"version":1,"provider":{"type":"CANARY"}}`, Line: config("provider.type must be mem0-platform-v3 or generic-http-search-v1")},
		{Name: "provider type not a string", Text: `{"version":1,"provider":{"type":{"CANARY":1}}}`, Line: config("provider.type must be a string")},
		{Name: "unknown provider member", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"a","CANARY":"CANARY"}}`, Line: config("provider has an unknown member")},
		{Name: "the other provider's member", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"a","baseUrl":"https://CANARY.example"}}`, Line: config("provider has an unknown member")},
		{Name: "a selector of the model's", Text: `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://CANARY.example","tokenEnv":"T","appId":"CANARY"}}`, Line: config("provider has an unknown member")},
		{Name: "no apiKeyEnv", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","appId":"CANARY"}}`, Line: config("provider.apiKeyEnv is required")},
		{Name: "no appId", Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"CANARY"}}`, Line: config("provider.appId is required")},
		{Name: "no baseUrl", Text: `{"version":1,"provider":{"type":"generic-http-search-v1","tokenEnv":"CANARY"}}`, Line: config("provider.baseUrl is required")},
		{Name: "no tokenEnv", Text: `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://CANARY.example"}}`, Line: config("provider.tokenEnv is required")},
	}
	for _, name := range []string{"", "9CANARY", "CANARY-KEY", "CANARY KEY", "CANARY=", "CANARYÉ", `CANARY\n`, "CANARY$"} {
		cases = append(cases, Case{Name: "apiKeyEnv " + name, Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"` + name + `","appId":"a"}}`,
			Line: config("provider.apiKeyEnv must be the name of an environment variable")})
	}
	for _, appID := range []string{"", "  ", `\t\u3000\ufeff`, strings.Repeat("a", 257), strings.Repeat("😀", 257)} {
		cases = append(cases, Case{Name: "appId " + appID, Text: `{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"CANARY","appId":"` + appID + `"}}`,
			Line: config("provider.appId must be from 1 to 256 characters long")})
	}
	for _, c := range origins() {
		cases = append(cases, Case{Name: "baseUrl " + c.text, Line: config("provider.baseUrl " + c.rule),
			Text: `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"` + c.text + `","tokenEnv":"T"}}`})
	}
	return append(cases, Case{
		Name:            "baseUrl with a host of 254 characters",
		Text:            `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://` + strings.Repeat("a.", 126) + `aa","tokenEnv":"T"}}`,
		Line:            config("provider.baseUrl must have a valid host name or address"),
		SchemaCannotSay: "a pattern bounds a label and cannot count the whole name",
	})
}

type badOrigin struct{ text, rule string }

// origins are values of baseUrl that are not allowed, as they stand in JSON.
func origins() []badOrigin {
	const (
		scheme      = "must be an https origin, or http on loopback"
		host        = "must have a valid host name or address"
		port        = "must have a port from 1 to 65535, or none"
		blank       = "must not contain whitespace or control characters"
		path        = "must be an origin without a path"
		query       = "must be an origin without a query"
		fragment    = "must be an origin without a fragment"
		credentials = "must be an origin without credentials"
	)
	return []badOrigin{
		{"", scheme}, {"CANARY.example.com", scheme}, {"//CANARY.example.com", scheme}, {"ftp://CANARY.example.com", scheme},
		{"file:///CANARY", scheme}, {"https:CANARY.example.com", scheme}, {"https:/CANARY", scheme},
		{"http://CANARY.example.com", scheme}, {"http://10.0.0.1", scheme}, {"http://127.0.0.2", scheme}, {"http://0.0.0.0", scheme},
		{"http://localhost.CANARY.example", scheme}, {"http://localhost.", scheme}, {"http://[::2]", scheme}, {"http://[::ffff:127.0.0.1]", scheme},
		{"https://", host}, {"https:///", host}, {"https://:443", host}, {"https://.", host}, {"https://CANARY..example", host},
		{"https://CANARYé.example", host}, {`https://CANARY\u212a.example`, host}, {"https://%43ANARY.example", host}, {"https://[CANARY]", host}, {"https://[::1", host},
		{"https://[fe80::1%25eth0]", host}, {"https://[10.0.0.1]", host}, {"https://::1", host}, {"https://a,CANARY", host},
		{"https://" + strings.Repeat("a", 64) + ".example", host},
		{"https://CANARY.example:", port}, {"https://CANARY.example:0", port}, {"https://CANARY.example:65536", port},
		{"https://CANARY.example:0443", port}, {"https://CANARY.example:http", port}, {"https://CANARY.example:-1", port},
		{"https://CANARY.example/v1", path}, {"https://CANARY.example//", path}, {"https://CANARY.example/.", path}, {`https://CANARY.example\\`, path},
		{"https://CANARY.example?", query}, {"https://CANARY.example/?q=CANARY", query},
		{"https://CANARY.example#", fragment}, {"https://CANARY.example/#CANARY", fragment},
		{"https://user:CANARY@example.com", credentials}, {"https://CANARY@example.com", credentials}, {"https://@CANARY.example", credentials},
		{" https://CANARY.example", blank}, {"https://CANARY.example ", blank}, {"https://CANARY. example", blank},
		{`https://CANARY.example\n`, blank}, {`https://CANARY\u0000.example`, blank}, {`https://CANARY\u007f.example`, blank}, {`https://CANARY\u3000.example`, blank},
	}
}
