package provider

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"

	"external-context.internal/appliance/src/envelope"
	"external-context.internal/appliance/src/jstext"
	"github.com/go-json-experiment/json/jsontext"
)

// responseShape names where a provider puts what an item needs. A member that the
// provider does not have is named by [absent].
type responseShape struct {
	array   string
	content string
	title   string
	uri     string
}

// absent is a name that no response is read for. It is no valid UTF-8, so that no
// member can have it.
const absent = "\xff"

// items reads a response body and keeps the first limit usable items, in the
// provider's order (contract section 4). A body that is not JSON, or not an object
// with the array, is [ClassBadResponse]; an item that is not usable is dropped
// alone. As in JavaScript, the last of duplicate members counts.
func (shape responseShape) items(body []byte, limit int) ([]envelope.Item, error) {
	// Duplicates and unpaired surrogates are JSON, and a provider may send them.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var items []envelope.Item
	found := false
	err := members(decoder, func(name string) error {
		if name != shape.array {
			return decoder.SkipValue()
		}
		items, found = nil, decoder.PeekKind() == '['
		if !found {
			return decoder.SkipValue()
		}
		return elements(decoder, func() (err error) {
			if len(items) == limit {
				return decoder.SkipValue()
			}
			items, err = shape.appendItem(items, decoder)
			return err
		})
	})
	if err == nil {
		_, err = decoder.ReadToken()
	}
	if err != io.EOF || !found {
		return nil, &Error{Class: ClassBadResponse}
	}
	return items, nil
}

// errNotObject reports a value of another kind than the one to be read.
var errNotObject = errors.New("not a JSON object")

// members reads an object and calls member for each name, which must read its
// value.
func members(decoder *jsontext.Decoder, member func(name string) error) error {
	if decoder.PeekKind() != '{' {
		return errNotObject
	}
	return between(decoder, '}', func() error {
		name, err := decoder.ReadToken()
		if err != nil {
			return err
		}
		return member(name.String())
	})
}

// elements reads an array and calls element for each, which must read it.
func elements(decoder *jsontext.Decoder, element func() error) error {
	return between(decoder, ']', element)
}

// between reads an opening token, what is inside, and the closing one.
func between(decoder *jsontext.Decoder, closing jsontext.Kind, inside func() error) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for decoder.PeekKind() != closing {
		if err := inside(); err != nil {
			return err
		}
	}
	_, err := decoder.ReadToken()
	return err
}

// appendItem reads one element of the array and appends it if it is usable: an
// object whose id and content are strings that are not empty.
func (shape responseShape) appendItem(items []envelope.Item, decoder *jsontext.Decoder) ([]envelope.Item, error) {
	if decoder.PeekKind() != '{' {
		return items, decoder.SkipValue()
	}
	var item envelope.Item
	var updated, updatedToo jstext.Text
	err := members(decoder, func(name string) error {
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		switch name {
		case "id":
			item.ID = text(value)
		case shape.content:
			item.Content = text(value)
		case shape.title:
			item.Title = text(value)
		case shape.uri:
			item.URI = text(value)
		case "score":
			item.Score = number(value)
		case "updated_at":
			updated = text(value)
		case "updatedAt":
			updatedToo = text(value)
		}
		return nil
	})
	if item.UpdatedAt = updated; len(updated) == 0 {
		item.UpdatedAt = updatedToo
	}
	if err == nil && len(item.ID) > 0 && len(item.Content) > 0 {
		items = append(items, item)
	}
	return items, err
}

// text returns the value of a JSON string, or nothing for any other value.
func text(value jsontext.Value) jstext.Text {
	t, err := jstext.Unquote(value)
	if err != nil {
		return nil
	}
	return t
}

// number returns the value of a JSON number that is finite, or nil for any other
// value.
func number(value jsontext.Value) *float64 {
	if len(value) == 0 || (value[0] != '-' && (value[0] < '0' || value[0] > '9')) {
		return nil
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
