// Package query turns what a model asked into the query that may leave: checked,
// folded and bounded (contract section 3).
//
// It owns the rules a query must meet and the words that explain them. It knows
// nothing about where the query goes.
package query

import (
	"external-context.internal/appliance/src/jstext"
)

const (
	// MaxCodePoints is the longest query accepted, in code points before folding.
	MaxCodePoints = 2000
	// Limit is the number of results every search asks for.
	Limit = 5
)

// Error is a rule of contract section 3 that a query breaks. Its text is fixed,
// meant for the model that asked, and never holds the query.
type Error string

// Error returns the rule as a short actionable sentence.
func (e Error) Error() string { return string(e) }

// The rules a query's text can break.
const (
	ErrTooLong   Error = "query must be at most 2000 characters long. Shorten it and search again."
	ErrSurrogate Error = "query must be valid Unicode text without unpaired surrogates. Correct it and search again."
	ErrEmpty     Error = "query must not be empty or only whitespace. Say what to search for."
)

// Fold checks text against the rules of contract section 3 and returns the query
// to send: each run of whitespace one space, none at either end. The error is an
// [Error].
func Fold(text jstext.Text) (string, error) {
	if len(text) > MaxCodePoints {
		return "", ErrTooLong
	}
	if !text.WellFormed() {
		return "", ErrSurrogate
	}
	folded := fold(text)
	if len(folded) == 0 {
		return "", ErrEmpty
	}
	return folded.String(), nil
}

// fold replaces each run of whitespace by one space and trims.
func fold(text jstext.Text) jstext.Text {
	folded := make(jstext.Text, 0, len(text))
	gap := false
	for _, r := range text {
		if jstext.IsSpace(r) {
			gap = true
			continue
		}
		if gap && len(folded) > 0 {
			folded = append(folded, ' ')
		}
		gap = false
		folded = append(folded, r)
	}
	return folded
}
