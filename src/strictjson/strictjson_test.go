package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"external-context.internal/appliance/src/strictjson"
)

func TestMembersAreReadByDeclaredName(t *testing.T) {
	object, err := strictjson.Parse([]byte(` { "s" : "a\u00e9" , "b":true, "i":-5e3, "o":{"in":"x"}, "list":[1,[2],{"a":3}] } `), "s", "b", "i", "o", "list", "absent")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := object.String("s"); s != "aé" || err != nil {
		t.Errorf("s = %q, %v", s, err)
	}
	if b, err := object.Bool("b"); !b || err != nil {
		t.Errorf("b = %v, %v", b, err)
	}
	if i, err := object.Integer("i"); i != -5000 || err != nil {
		t.Errorf("i = %d, %v", i, err)
	}
	inner, err := object.Object("o", "in")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := inner.String("in"); s != "x" || err != nil {
		t.Errorf("o.in = %q, %v", s, err)
	}
	if !object.Has("list") || object.Has("absent") {
		t.Error("Has is wrong")
	}
}

func TestViolationsNameTheCallersPath(t *testing.T) {
	const document = `{"s":1,"b":"true","i":1.5,"o":[],"deep":{"in":{"x":1,"x":2}}}`
	object, err := strictjson.Parse([]byte(document), "s", "b", "i", "o", "deep", "absent")
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error, want string) {
		t.Helper()
		var violation *strictjson.Violation
		if !errors.As(err, &violation) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err = object.String("s")
	check(err, "s must be a string")
	_, err = object.Bool("b")
	check(err, "b must be true or false")
	_, err = object.Integer("i")
	check(err, "i must be an integer")
	_, err = object.Object("o")
	check(err, "o must be an object")
	_, err = object.String("absent")
	check(err, "absent is required")
	deep, err := object.Object("deep", "in")
	if err != nil {
		t.Fatal(err)
	}
	_, err = deep.Object("in", "x")
	check(err, "deep.in.x is given twice")
	_, err = deep.Object("in", "y")
	check(err, "deep.in has an unknown member")
	check(deep.Violation("in", "is not liked"), "deep.in is not liked")
	_, err = strictjson.Parse([]byte(`[]`))
	check(err, "top level must be an object")
}

func TestIntegersAreExact(t *testing.T) {
	for text, good := range map[string]bool{"0": true, "-0": true, "9007199254740991": true, "-9007199254740991": true, "9007199254740992": false,
		"1e15": true, "1e16": false, "1e400": false, "0.5": false, "1e-1": false, "10e-1": true, "null": false, `"1"`: false} {
		object, err := strictjson.Parse([]byte(`{"i":`+text+`}`), "i")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := object.Integer("i"); (err == nil) != good {
			t.Errorf("%s: got %v, want an integer: %v", text, err, good)
		}
	}
}

func TestWhatIsNotOneDocumentIsNotJSON(t *testing.T) {
	for _, document := range []string{"", " ", "{", "{}{}", "{} x", "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":01}`, `{"a":1,}`, "\ufeff{}", strings.Repeat("[", 100_000)} {
		if _, err := strictjson.Parse([]byte(document), "a"); !errors.Is(err, strictjson.ErrNotJSON) {
			t.Errorf("%.20q: got %v", document, err)
		}
	}
}
