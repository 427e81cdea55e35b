package fakes

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// Canary returns a fresh text that can stand nowhere by chance. It is put where
// something secret would be, and then looked for where it must not be.
func Canary() string { return "canary" + strings.ToLower(rand.Text()[:16]) }

// Leaks returns those of the canaries that stand in one of the texts, plainly or
// in an encoding in which text commonly gets about.
func Leaks(canaries []string, texts ...[]byte) []string {
	var leaks []string
	for _, canary := range canaries {
		for _, text := range texts {
			if holds(text, canary) {
				leaks = append(leaks, canary)
				break
			}
		}
	}
	return leaks
}

func holds(text []byte, canary string) bool {
	lower := bytes.ToLower(text)
	forms := []string{canary, hex.EncodeToString([]byte(canary)), url.QueryEscape(canary)}
	for _, form := range forms {
		if bytes.Contains(lower, []byte(form)) {
			return true
		}
	}
	// In base64 the first and last characters depend on the neighbours, so only a
	// text as long as those of Canary leaves something to look for.
	if len(canary) < 12 {
		return false
	}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		if bytes.Contains(text, []byte(encoded[4:len(encoded)-4])) {
			return true
		}
	}
	return false
}
