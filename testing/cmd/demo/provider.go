package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"sync"
	"time"

	"external-context.internal/appliance/testing/refprovider"
)

// corpusFolder is the sample corpus, from the repository's root.
const corpusFolder = "testing/sample"

// provider is the reference provider, run in this process on a free port.
type provider struct {
	origin   string
	token    string
	passages int
	log      exchanges
	index    *refprovider.Index
	cancel   context.CancelFunc
	served   chan error
}

// startProvider indexes the folder and serves it until stop is called.
func startProvider(ctx context.Context, folder string) (*provider, error) {
	passages, err := refprovider.LoadFolder(folder)
	if err != nil {
		return nil, err
	}
	index, err := refprovider.NewIndex(passages)
	if err != nil {
		return nil, err
	}
	listener, err := refprovider.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		_ = index.Close()
		return nil, err
	}
	// It must outlive ctx: the product is stopped before its provider.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &provider{
		origin: "http://" + listener.Addr().String(), token: rand.Text(), passages: len(passages),
		index: index, cancel: cancel, served: make(chan error, 1),
	}
	handler := p.log.record(refprovider.NewHandler(index, p.token))
	go func() { p.served <- refprovider.Serve(serving, listener, handler) }()
	return p, nil
}

// stop ends the service within its own bound and frees the index.
func (p *provider) stop() error {
	p.cancel()
	err := <-p.served
	if closing := p.index.Close(); err == nil {
		err = closing
	}
	return err
}

// exchange is one request as it arrived, and its answer.
type exchange struct {
	method, path, host string
	header             http.Header
	body               []byte
	status             int
	answer             []byte
	took               time.Duration
}

// exchanges keeps every request that arrived, also those that were refused.
type exchanges struct {
	mu  sync.Mutex
	all []exchange
}

// list returns the exchanges so far.
func (e *exchanges) list() []exchange {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]exchange(nil), e.all...)
}

// record returns a handler that answers as next does and keeps the exchange. A
// client has the end of its answer only after the handler has returned, so the
// exchange is kept by then.
func (e *exchanges) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, refprovider.MaxRequestBytes+1))
		if err != nil {
			http.Error(w, "the body could not be read", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &answerRecorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, r)
		kept := exchange{
			method: r.Method, path: r.URL.RequestURI(), host: r.Host, header: r.Header.Clone(), body: body,
			status: answer.status, answer: answer.body.Bytes(), took: time.Since(start),
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.all = append(e.all, kept)
	})
}

// answerRecorder keeps a copy of what is answered.
type answerRecorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (a *answerRecorder) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answerRecorder) Write(data []byte) (int, error) {
	a.body.Write(data)
	return a.ResponseWriter.Write(data)
}
