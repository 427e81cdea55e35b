package provider

import (
	"encoding/json"
	"math"
	"strconv"

	"external-context.internal/appliance/src/envelope"
	"external-context.internal/appliance/src/jstext"
)

// responseShape names where a provider puts what an item needs. A member without
// a name is one the provider does not have.
type responseShape struct {
	array   string
	content string
	title   string
	uri     string
}

// items reads a response body and keeps the first limit usable items, in the
// provider's order (contract section 4). A body that is not an object with the
// array is [ClassBadResponse]; an item that is not usable is dropped alone.
func (shape responseShape) items(body []byte, limit int) ([]envelope.Item, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, &Error{Class: ClassBadResponse}
	}
	array := object[shape.array]
	if len(array) == 0 || array[0] != '[' {
		return nil, &Error{Class: ClassBadResponse}
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(array, &elements); err != nil {
		return nil, &Error{Class: ClassBadResponse}
	}
	var items []envelope.Item
	for _, element := range elements {
		if len(items) == limit {
			break
		}
		if item, ok := shape.item(element); ok {
			items = append(items, item)
		}
	}
	return items, nil
}

// item reads one element of the array. It is usable if it is an object whose id
// and content are strings that are not empty.
func (shape responseShape) item(element json.RawMessage) (envelope.Item, bool) {
	var member map[string]json.RawMessage
	if element[0] != '{' || json.Unmarshal(element, &member) != nil {
		return envelope.Item{}, false
	}
	item := envelope.Item{
		ID:        text(member["id"]),
		Content:   text(member[shape.content]),
		Score:     number(member["score"]),
		UpdatedAt: text(member["updated_at"]),
	}
	if len(item.UpdatedAt) == 0 {
		item.UpdatedAt = text(member["updatedAt"])
	}
	if shape.title != "" {
		item.Title = text(member[shape.title])
	}
	if shape.uri != "" {
		item.URI = text(member[shape.uri])
	}
	return item, len(item.ID) > 0 && len(item.Content) > 0
}

// text returns the value of a JSON string, or nothing for any other value.
func text(value json.RawMessage) jstext.Text {
	t, err := jstext.Unquote(value)
	if err != nil {
		return nil
	}
	return t
}

// number returns the value of a JSON number that is finite, or nil for any other
// value.
func number(value json.RawMessage) *float64 {
	if len(value) == 0 || (value[0] != '-' && (value[0] < '0' || value[0] > '9')) {
		return nil
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
