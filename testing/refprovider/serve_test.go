package refprovider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, address := range []string{
		"", "8765", ":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "10.0.0.1:0", "[2001:db8::1]:0", "example.com:0",
		"127.0.0.1", "localhost", "localhost.example.com:0", "[::ffff:192.0.2.1]:0", "127.0.0.1.example.com:0",
	} {
		listener, err := Listen(context.Background(), address)
		if !errors.Is(err, ErrNotLoopback) {
			t.Errorf("Listen(%q) = %v", address, err)
		}
		if listener != nil {
			_ = listener.Close()
		}
	}
	for _, address := range []string{"127.0.0.1:0", "127.0.0.2:0", "localhost:0"} {
		listener, err := Listen(context.Background(), address)
		if err != nil {
			t.Errorf("Listen(%q): %v", address, err)
			continue
		}
		if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
			t.Errorf("Listen(%q) listens on %v", address, ip)
		}
		_ = listener.Close()
	}
}

func TestServeLetsARequestInFlightFinish(t *testing.T) {
	listener, err := Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	stopped := func(w http.ResponseWriter, r *http.Request) {
		stop() // the signal arrives while the request is in flight
		if !refusesConnections(listener.Addr().String()) {
			t.Error("a stopping service accepts new connections")
		}
		_, _ = io.WriteString(w, "finished")
	}
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, listener, http.HandlerFunc(stopped)) }()
	response, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if string(body) != "finished" {
		t.Errorf("answer %q, %v", body, err)
	}
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * stopTimeout):
		t.Fatal("Serve does not end with its context")
	}
	if !refusesConnections(listener.Addr().String()) {
		t.Error("the listener is still open")
	}
}

// refusesConnections waits for the address to refuse a connection, at most two
// seconds.
func refusesConnections(address string) bool {
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return true
		}
		_ = connection.Close()
	}
	return false
}
