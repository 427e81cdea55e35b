package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	// tokenVariable is the environment variable that can hold the token.
	tokenVariable = "CONTEXT_API_TOKEN"
	// maxToken is the largest token, in bytes (contract section 2).
	maxToken = 8 << 10
)

var errToken = fmt.Errorf("the token must be one line of 1 to %d visible ASCII characters", maxToken)

// token is the bearer token and, for the person, where it came from.
type token struct {
	value  string
	origin string
}

// findToken returns the token of the file, else of the environment, else a new
// one. A file that does not exist is made with a new token.
func findToken(lookup func(string) (string, bool), file string) (token, error) {
	value, set := lookup(tokenVariable)
	switch {
	case file != "" && set:
		return token{}, fmt.Errorf("both -token-file and %s are given: choose one", tokenVariable)
	case file != "":
		return fileToken(file)
	case set:
		return checked(value, "from "+tokenVariable)
	}
	made := rand.Text()
	return token{made, fmt.Sprintf("%s  (new, for this run; set %s to choose one)", made, tokenVariable)}, nil
}

func fileToken(name string) (token, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return newFileToken(name)
	}
	if err != nil {
		return token{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return token{}, err
	}
	if !info.Mode().IsRegular() {
		return token{}, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxToken+2))
	if err != nil {
		return token{}, err
	}
	return checked(strings.TrimSuffix(string(data), "\n"), "from "+name)
}

// newFileToken makes a file that did not exist with a new token.
func newFileToken(name string) (made token, err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return token{}, err
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
	}()
	value := rand.Text()
	_, err = io.WriteString(file, value+"\n")
	return token{value, "new, in " + name}, err
}

func checked(value, origin string) (token, error) {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if value == "" || len(value) > maxToken || strings.ContainsFunc(value, invisible) {
		return token{}, errToken
	}
	return token{value, origin}, nil
}
