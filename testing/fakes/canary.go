package fakes

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Canary returns a fresh text that can stand nowhere by chance. It is put where
// something secret would be, and then looked for where it must not be.
func Canary() string { return "canary" + strings.ToLower(rand.Text()[:16]) }

// Leaks returns those of the canaries that stand in one of the texts, in upper or
// lower case, plainly or in an encoding in which text commonly gets about.
func Leaks(canaries []string, texts ...[]byte) []string {
	var found []string
	for _, text := range texts {
		readings := [][]byte{lower(text)}
		if bytes.Contains(readings[0], []byte(`\u00`)) {
			readings = append(readings, lower(unescaped(readings[0])))
		}
		for _, canary := range canaries {
			if holds(readings, canary) || holdsBase64(text, canary) {
				found = append(found, canary)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(canaries), func(canary string) bool { return !slices.Contains(found, canary) })
}

// holds looks for the canary in readings of one text, which are in lower case.
func holds(readings [][]byte, canary string) bool {
	for _, form := range forms(canary) {
		form := lower([]byte(form))
		if slices.ContainsFunc(readings, func(reading []byte) bool { return bytes.Contains(reading, form) }) {
			return true
		}
	}
	return false
}

// lower returns text with its ASCII letters in lower case. Whole folders are looked
// through, and most of what is in them is not UTF-8.
func lower(text []byte) []byte {
	lower := bytes.Clone(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return lower
}

// forms are the encodings in which case says nothing.
func forms(canary string) []string {
	quoted := string(encode(canary))
	decimal := fmt.Sprint([]byte(canary))
	backwards := []byte(canary)
	slices.Reverse(backwards)
	forms := []string{
		canary, string(backwards),
		url.QueryEscape(canary), url.PathEscape(canary),
		quoted[1 : len(quoted)-1],
		hex.EncodeToString([]byte(canary)), fmt.Sprintf("% x", canary),
		decimal[1 : len(decimal)-1], // bytes as Go prints them
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// unescaped replaces the escapes of JSON that stand for ASCII, which a serialiser
// may use for any letter.
func unescaped(text []byte) []byte {
	var plain []byte
	for i, part := range bytes.Split(text, []byte(`\u00`)) {
		var code [1]byte
		if i > 0 && len(part) >= 2 {
			if _, err := hex.Decode(code[:], part[:2]); err == nil {
				part = append(code[:], part[2:]...)
			}
		}
		plain = append(plain, part...)
	}
	return plain
}

// holdsBase64 looks for the canary in either alphabet of base64, at each of the
// three places where it can begin.
func holdsBase64(text []byte, canary string) bool {
	// The first and last characters depend on the neighbours, so only a text as long
	// as those of Canary leaves something to look for.
	if len(canary) < 12 {
		return false
	}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		middle := encoded[4 : len(encoded)-4]
		if bytes.Contains(text, []byte(middle)) {
			return true
		}
		forURLs := strings.NewReplacer("+", "-", "/", "_").Replace(middle)
		if forURLs != middle && bytes.Contains(text, []byte(forURLs)) {
			return true
		}
	}
	return false
}
