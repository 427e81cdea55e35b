package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryLineFitsThePage(t *testing.T) {
	s := newShowing(t)
	question := "追跡番号 \x1b[31m\u202e " + strings.Repeat("parcel ", 200)
	if err := s.run(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(s.output.String()) {
		line = strings.TrimSuffix(line, "\n")
		if n := len([]rune(line)); n > width {
			t.Errorf("%d characters: %s", n, line)
		}
		if strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("the question writes to the terminal: %q", line)
		}
	}
}

func TestTheTokenIsNeverShown(t *testing.T) {
	s := newShowing(t)
	var token []byte
	command := s.server.command
	s.server.command = func(dir string, files sessionFiles) *exec.Cmd {
		var err error
		if token, err = os.ReadFile(files.token); err != nil {
			t.Error(err)
		}
		return command(dir, files)
	}
	if err := s.run(t.Context(), defaultQuestion); err != nil {
		t.Fatal(err)
	}
	if secret := bytes.TrimSpace(token); len(secret) < 20 || bytes.Contains(s.output.Bytes(), secret) {
		t.Error("the token is on the page, or there is none")
	}
	if !strings.Contains(s.output.String(), "Authorization: Bearer <token>") {
		t.Error("the page does not show that a token was sent")
	}
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	terminal, err := os.Open(os.DevNull) // like a terminal, a character device
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, test := range []struct {
		file *os.File
		env  []string
		want bool
	}{
		{terminal, []string{"TERM=xterm"}, true},
		{terminal, []string{"TERM=xterm", "NO_COLOR="}, true},
		{terminal, []string{"TERM=xterm", "NO_COLOR=1"}, false},
		{terminal, []string{"TERM=dumb"}, false},
		{terminal, nil, false},
		{file, []string{"TERM=xterm"}, false},
	} {
		lookup := func(name string) (string, bool) {
			i := slices.IndexFunc(test.env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
			if i < 0 {
				return "", false
			}
			return test.env[i][len(name)+1:], true
		}
		if got := wantsColour(test.file, lookup); got != test.want {
			t.Errorf("%s with %v: %t", test.file.Name(), test.env, got)
		}
	}
	var plain, coloured bytes.Buffer
	page{out: &plain}.heading("x")
	page{out: &coloured, colour: true}.heading("x")
	if plain.String() != "x\n" || coloured.String() != "\x1b[1mx\x1b[0m\n" {
		t.Errorf("plain %q, coloured %q", plain.String(), coloured.String())
	}
}
