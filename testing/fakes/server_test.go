package fakes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

func TestWaitingEndsWithItsContext(t *testing.T) {
	fake := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if fake.Wait(ctx, 1) == nil || fake.WaitGone(ctx, 1) == nil {
		t.Error("waiting for what has not come is no error")
	}
}

func TestARequestIsRecordedAsItCame(t *testing.T) {
	fake := started(t)
	request := newRequest(t, t.Context(), fake.URL()+"/v1/context/search?a=b%20c")
	request.Host = "name.example"
	request.Header["X-Twice"] = []string{"1", "2"}
	before := time.Now()
	send(t, request)
	r := fake.Requests()[0]
	if r.Method != "POST" || r.Path != "/v1/context/search" || r.RawQuery != "a=b%20c" || r.Host != "name.example" || r.Proto != "HTTP/1.1" {
		t.Errorf("got %+v", r)
	}
	if string(r.Body) != `{"query":"x","limit":5}` || !slices.Equal(r.Header["X-Twice"], []string{"1", "2"}) {
		t.Errorf("got %+v", r)
	}
	if r.At.Before(before) || r.At.After(time.Now()) {
		t.Errorf("received at %v", r.At)
	}
}

func TestConnectionsAreToldApart(t *testing.T) {
	fake := started(t)
	client := plain()
	for range 2 {
		response, err := client.Do(newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	send(t, newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
	r := fake.Requests()
	if r[0].Connection != r[1].Connection || r[1].Connection == r[2].Connection {
		t.Errorf("got %s, %s, %s, want two of one connection and one of another", r[0].Connection, r[1].Connection, r[2].Connection)
	}
	fake.Forget()
	if fake.Count() != 0 {
		t.Error("it still knows what it was told to forget")
	}
}

func TestARequestWhoseBodyBreaksOffIsRecordedToo(t *testing.T) {
	fake := started(t)
	connection, err := net.Dial("tcp", fake.Addr())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "POST /v1/context/search HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"query\"")
	connection.Close()
	patience, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := errors.Join(fake.Wait(patience, 1), fake.WaitGone(patience, 1)); err != nil {
		t.Fatal(err)
	}
	if r := fake.Requests()[0]; string(r.Body) != `{"query"` {
		t.Errorf("got %q", r.Body)
	}
}

func TestWhoeverHasHadAnAnswerHasNotGone(t *testing.T) {
	fake := started(t)
	for range 20 {
		send(t, newRequest(t, t.Context(), fake.URL()+"/v1/context/search"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if fake.WaitGone(ctx, 1) == nil {
		t.Error("a client counts as gone after its answer")
	}
}
