// Package strictjson reads one JSON document that an administrator wrote, and
// refuses what a lenient reader would let pass: unknown and duplicate members,
// wrong types, trailing data, invalid UTF-8 (contract section 2).
//
// It owns the walk from a document to values by declared names, and the wording
// of what is wrong with a member's form. It refuses to repeat anything from the
// document: a violation names members by the caller's own words only. What the
// values mean is the caller's.
package strictjson

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotJSON reports bytes that are not exactly one JSON document in valid UTF-8
// without unpaired surrogates.
var ErrNotJSON = errors.New("not valid JSON")

// Violation is one rule that a document breaks. Path and Rule consist of names and
// words fixed in the program.
type Violation struct {
	// Path names the member: "provider.type".
	Path string
	// Rule says what the member must be, or is: "must be a string".
	Rule string
}

// Error returns path and rule as the start of a sentence.
func (v *Violation) Error() string { return v.Path + " " + v.Rule }

// topLevel is the path of the document itself.
const topLevel = "top level"

// maxInteger is the largest magnitude up to which every integer has a float64 of
// its own.
const maxInteger = 1 << 53

// value is a parsed JSON value. Numbers are kept as they are written.
type value struct {
	kind    jsontext.Kind
	text    string
	members []member
}

type member struct {
	name  string
	value value
}

// Object is a JSON object whose members are all declared and given once.
type Object struct {
	path    string
	members []member
}

// Parse reads a document that must be an object with the declared members and no
// others. The error is [ErrNotJSON] or a [*Violation].
func Parse(document []byte, declared ...string) (Object, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(document), jsontext.AllowDuplicateNames(true))
	v, err := read(decoder)
	if err != nil {
		return Object{}, ErrNotJSON
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		return Object{}, ErrNotJSON
	}
	return v.object("", declared)
}

// read reads the next value. The decoder bounds the depth of the recursion.
func read(decoder *jsontext.Decoder) (value, error) {
	token, err := decoder.ReadToken()
	if err != nil {
		return value{}, err
	}
	v := value{kind: token.Kind()}
	switch v.kind {
	case '"', '0':
		v.text = token.String()
	case '{':
		v.members, err = readMembers(decoder)
	case '[':
		err = skipElements(decoder)
	}
	return v, err
}

func readMembers(decoder *jsontext.Decoder) ([]member, error) {
	var members []member
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		if m.value, err = read(decoder); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := decoder.ReadToken()
	return members, err
}

// skipElements checks an array's elements; no member of a configuration is one.
func skipElements(decoder *jsontext.Decoder) error {
	for decoder.PeekKind() != ']' {
		if _, err := read(decoder); err != nil {
			return err
		}
	}
	_, err := decoder.ReadToken()
	return err
}

// object checks that v is an object and that its members are the declared ones.
func (v value) object(path string, declared []string) (Object, error) {
	o := Object{path: path, members: v.members}
	if v.kind != '{' {
		return Object{}, o.violation("", "must be an object")
	}
	for i, m := range v.members {
		known := slices.Index(declared, m.name)
		if known < 0 {
			return Object{}, o.violation("", "has an unknown member")
		}
		if slices.ContainsFunc(v.members[:i], func(earlier member) bool { return earlier.name == m.name }) {
			return Object{}, o.violation(declared[known], "is given twice")
		}
	}
	return o, nil
}

// violation reports a rule broken by the named member, or by the object itself.
func (o Object) violation(name, rule string) *Violation {
	path := o.join(name)
	if path == "" {
		path = topLevel
	}
	return &Violation{Path: path, Rule: rule}
}

func (o Object) join(name string) string {
	switch {
	case o.path == "":
		return name
	case name == "":
		return o.path
	}
	return o.path + "." + name
}

// Has reports whether the member is given.
func (o Object) Has(name string) bool {
	_, ok := o.find(name)
	return ok
}

func (o Object) find(name string) (value, bool) {
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// need returns a member that must be given.
func (o Object) need(name string) (value, error) {
	v, ok := o.find(name)
	if !ok {
		return value{}, o.violation(name, "is required")
	}
	return v, nil
}

// Violation returns the error for a rule of the caller's own about a member.
func (o Object) Violation(name, rule string) error { return o.violation(name, rule) }

// Object returns a member that must be an object with the declared members and no
// others. The error is a [*Violation].
func (o Object) Object(name string, declared ...string) (Object, error) {
	v, err := o.need(name)
	if err != nil {
		return Object{}, err
	}
	return v.object(o.join(name), declared)
}

// String returns a member that must be a string. The error is a [*Violation].
func (o Object) String(name string) (string, error) {
	v, err := o.need(name)
	if err != nil {
		return "", err
	}
	if v.kind != '"' {
		return "", o.violation(name, "must be a string")
	}
	return v.text, nil
}

// Bool returns a member that must be true or false. The error is a [*Violation].
func (o Object) Bool(name string) (bool, error) {
	v, err := o.need(name)
	if err != nil {
		return false, err
	}
	if v.kind != 't' && v.kind != 'f' {
		return false, o.violation(name, "must be true or false")
	}
	return v.kind == 't', nil
}

// Integer returns a member that must be a number with an integral value, however
// it is written: 5000, 5e3 and 5000.0 are one value, as in JSON Schema. The value is
// the number's as a float64, as JavaScript reads it. The error is a [*Violation].
func (o Object) Integer(name string) (int, error) {
	v, err := o.need(name)
	if err != nil {
		return 0, err
	}
	if v.kind != '0' {
		return 0, o.violation(name, "must be an integer")
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= maxInteger {
		return 0, o.violation(name, "must be an integer")
	}
	return int(f), nil
}
