package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// hanging is a test that starts a program which heeds no interrupt, says that it
// has, and goes on for as long as the program does.
const hanging = `package hanging

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

func TestHangs(t *testing.T) {
	connection, err := net.Dial("tcp", os.Getenv("LISTENER"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := connection.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command("sh", "-c", "trap '' INT; echo started >&0; exec sleep 300")
	program.Stdin = file
	t.Fatal(program.Run())
}
`

// TestAnInterruptEndsAllThatTestsStarted holds a connection that each process of the
// run has: it ends when the last of them has.
func TestAnInterruptEndsAllThatTestsStarted(t *testing.T) {
	directory := t.TempDir()
	write(t, filepath.Join(directory, "go.mod"), "module hanging.example.test\n\ngo 1.26.0\n")
	write(t, filepath.Join(directory, "hanging_test.go"), hanging)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("LISTENER", listener.Addr().String())

	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	cmd := tests(ctx, "./...")
	cmd.Dir = directory
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute))
	connection, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetReadDeadline(time.Now().Add(time.Minute))
	said := make([]byte, len("started\n"))
	if _, err := io.ReadFull(connection, said); err != nil || string(said) != "started\n" {
		t.Fatalf("got %q, %v", said, err)
	}
	interrupt()
	if err := wait(ctx, cmd); err == nil {
		t.Error("an interrupted run ended well")
	}
	connection.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := connection.Read(said); !errors.Is(err, io.EOF) {
		t.Errorf("something goes on: %v", err)
	}
}

func TestAStepThatWasInterruptedIsTheLast(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	b := &bench{stdout: io.Discard}
	r := b.carryOut(ctx, []step{
		{"well", func(context.Context, *bench) error { return nil }},
		{"interrupted", func(context.Context, *bench) error { interrupt(); return ctx.Err() }},
		{"never", func(context.Context, *bench) error { t.Error("it was run"); return nil }},
	})
	if r.well != 1 || len(r.failed) != 1 || r.failed[0] != "interrupted (interrupted)" {
		t.Errorf("got %+v", r)
	}
}
