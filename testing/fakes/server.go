// Package fakes has the peers that tests, benches and the demo put the product
// against: search providers that record every request and misbehave on demand, a
// certificate authority, and an HTTP proxy. All listen on loopback only.
//
// It knows the providers' wire contracts (contract section 4) and nothing of the
// product's code, so that a slip there cannot hide here.
package fakes

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxRecorded bounds how much of a request's body is kept, in bytes.
const maxRecorded = 1 << 20

// Request is one request as a fake received it.
type Request struct {
	Method, Path, RawQuery, Host, Proto string
	Header                              http.Header
	Body                                []byte
	// Connection is the client's address: one for each TCP connection.
	Connection string
	At         time.Time
}

// Server is what all fakes have in common: it listens, records, and answers
// through its behaviour.
type Server struct {
	listener net.Listener
	server   *http.Server
	scheme   string
	answer   func(Request) (status int, body []byte)

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at each change
	requests  []Request
	gone      int
	behaviour Behaviour
}

// start serves answer on a free port of loopback, over TLS if config is not nil.
func start(config *tls.Config, answer func(Request) (int, []byte)) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, scheme: "http", answer: answer, changed: make(chan struct{})}
	s.server = &http.Server{Handler: http.HandlerFunc(s.handle), ErrorLog: silentLog()}
	if config != nil {
		s.scheme = "https"
		s.server.TLSConfig = config
		go s.server.ServeTLS(listener, "", "")
	} else {
		go s.server.Serve(listener)
	}
	return s, nil
}

// URL returns the origin of the fake.
func (s *Server) URL() string { return s.scheme + "://" + s.Addr() }

// Addr returns host and port of the fake.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the fake and every connection to it.
func (s *Server) Close() { s.server.Close() }

// Behave sets how the fake answers from now on. Nil is: as it should.
func (s *Server) Behave(behaviour Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = behaviour
}

// Requests returns what was received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count returns how many requests were received so far.
func (s *Server) Count() int { return len(s.Requests()) }

// Forget drops what was recorded.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.gone = nil, 0
}

// Wait returns when n requests have been received, or with an error when ctx ends.
func (s *Server) Wait(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return len(s.requests) >= n })
}

// WaitGone returns when the clients of n requests have gone away before they had
// their answer, or with an error when ctx ends.
func (s *Server) WaitGone(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return s.gone >= n })
}

func (s *Server) wait(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := done(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.New("the fake has not seen what the test waits for")
		}
	}
}

// change makes a change under the lock and wakes who waits.
func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRecorded))
	request := Request{
		Method: r.Method, Path: r.URL.Path, RawQuery: r.URL.RawQuery, Host: r.Host, Proto: r.Proto,
		Header: r.Header.Clone(), Body: bytes.Clone(body), Connection: r.RemoteAddr, At: time.Now(),
	}
	var behaviour Behaviour
	s.change(func() {
		s.requests = append(s.requests, request)
		behaviour = s.behaviour
		if err != nil {
			s.gone++
		}
	})
	if err != nil {
		return // the request broke off
	}
	status, answer := s.answer(request)
	if behaviour == nil {
		behaviour = asItShould
	}
	behaviour(Exchange{w: w, r: r, Request: request, Status: status, Answer: answer})
	if r.Context().Err() != nil {
		s.change(func() { s.gone++ })
	}
}
