package fakes

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// responseLimit is the limit of the contract that the fakes stay at or exceed, in
// bytes. It is written here once more so that a change of the product shows.
const responseLimit = 1048576

// Exchange is one request and the answer it should get.
type Exchange struct {
	w http.ResponseWriter
	r *http.Request
	// Request is what was received.
	Request Request
	// Status and Answer are what a well-behaved provider would send.
	Status int
	Answer []byte
}

// Behaviour answers one request.
type Behaviour func(Exchange)

func silentLog() *log.Logger { return log.New(io.Discard, "", 0) }

// asItShould sends the answer of a well-behaved provider.
func asItShould(e Exchange) { e.send(e.Status, e.Answer) }

func (e Exchange) send(status int, body []byte) {
	e.w.Header().Set("Content-Type", "application/json")
	e.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	e.w.WriteHeader(status)
	_, _ = e.w.Write(body)
}

// raw takes the connection over. A stream of HTTP/2 has none of its own and is
// broken off instead: returning would answer 200.
func (e Exchange) raw(f func(net.Conn)) {
	connection, _, err := http.NewResponseController(e.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer connection.Close()
	f(connection)
}

// Status answers with a status and an error body that repeats the request, as
// careless services do.
func Status(code int) Behaviour {
	return func(e Exchange) {
		e.send(code, fmt.Appendf(nil, `{"error":%q,"authorization":%q}`, e.Request.Body, e.Request.Header.Get("Authorization")))
	}
}

// Redirect answers with a redirect to location.
func Redirect(code int, location string) Behaviour {
	return func(e Exchange) {
		e.w.Header().Set("Location", location)
		e.send(code, e.Answer)
	}
}

// Body answers 200 with the body.
func Body(body string) Behaviour { return func(e Exchange) { e.send(http.StatusOK, []byte(body)) } }

// BodyAs answers 200 with the body and a header field.
func BodyAs(body, field, value string) Behaviour {
	return func(e Exchange) {
		e.w.Header().Set(field, value)
		e.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		e.w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(e.w, body)
	}
}

// padded is the answer with blanks before its last byte, size bytes in all.
func (e Exchange) padded(size int) []byte {
	last := len(e.Answer) - 1
	padded := append([]byte(nil), e.Answer[:last]...)
	padded = append(padded, bytes.Repeat([]byte(" "), size-len(e.Answer))...)
	return append(padded, e.Answer[last])
}

// AtLimit sends the answer in exactly as many bytes as are allowed.
func AtLimit(e Exchange) { e.send(e.Status, e.padded(responseLimit)) }

// OverLimit sends the answer in one byte more than is allowed, and says so in
// Content-Length.
func OverLimit(e Exchange) { e.send(e.Status, e.padded(responseLimit+1)) }

// OverLimitChunked sends one byte more than is allowed without a Content-Length.
func OverLimitChunked(e Exchange) { e.chunked(e.padded(responseLimit + 1)) }

// AtLimitChunked sends exactly what is allowed without a Content-Length.
func AtLimitChunked(e Exchange) { e.chunked(e.padded(responseLimit)) }

func (e Exchange) chunked(body []byte) {
	e.w.WriteHeader(e.Status)
	for chunk := range bytes.Lines(bytes.ReplaceAll(body, []byte(strings.Repeat(" ", 1000)), []byte(strings.Repeat(" ", 999)+"\n"))) {
		if _, err := e.w.Write(chunk); err != nil {
			return
		}
		_ = http.NewResponseController(e.w).Flush()
	}
}

// ByteOrderMark sends the answer behind U+FEFF.
func ByteOrderMark(e Exchange) { e.send(e.Status, append([]byte("\ufeff"), e.Answer...)) }

// Gzip sends an answer compressed that nobody asked to be compressed; inflated
// it has inflated bytes.
func Gzip(inflated int) Behaviour {
	return func(e Exchange) {
		var compressed bytes.Buffer
		writer := gzip.NewWriter(&compressed)
		_, _ = writer.Write(e.padded(inflated))
		_ = writer.Close()
		e.w.Header().Set("Content-Encoding", "gzip")
		e.send(e.Status, compressed.Bytes())
	}
}

// SetCookie sends the answer with a cookie.
func SetCookie(cookie string) Behaviour {
	return func(e Exchange) {
		e.w.Header().Set("Set-Cookie", cookie)
		asItShould(e)
	}
}

// EarlyHints sends n informational responses before the answer.
func EarlyHints(n int) Behaviour {
	return func(e Exchange) {
		for range n {
			e.w.WriteHeader(http.StatusEarlyHints)
		}
		asItShould(e)
	}
}

// HugeHeader sends a header of size bytes before the answer.
func HugeHeader(size int) Behaviour {
	return func(e Exchange) {
		e.w.Header().Set("X-Huge", strings.Repeat("h", size))
		asItShould(e)
	}
}

// Reset resets the connection instead of answering.
func Reset(e Exchange) { e.raw(reset) }

// reset closes the connection below TLS, which would take its leave first.
func reset(connection net.Conn) {
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// HangUp closes the connection instead of answering.
func HangUp(e Exchange) { e.raw(func(net.Conn) {}) }

// NotHTTP answers with bytes that are no HTTP.
func NotHTTP(e Exchange) {
	e.raw(func(connection net.Conn) { _, _ = io.WriteString(connection, "SSH-2.0-OpenSSH_9.9\r\n\r\n") })
}

// Raw answers with bytes that the test has written itself.
func Raw(answer string) Behaviour {
	return func(e Exchange) {
		e.raw(func(connection net.Conn) { _, _ = io.WriteString(connection, answer) })
	}
}

// SwitchProtocols answers 101.
func SwitchProtocols(e Exchange) {
	e.raw(func(connection net.Conn) {
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
	})
}

// HalfThenReset sends half of the answer and resets the connection.
func HalfThenReset(e Exchange) {
	e.raw(func(connection net.Conn) {
		e.half(connection)
		reset(connection)
	})
}

// HalfThenHangUp sends half of the answer and closes the connection.
func HalfThenHangUp(e Exchange) { e.raw(e.half) }

func (e Exchange) half(connection net.Conn) {
	_, _ = fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(e.Answer), e.Answer[:len(e.Answer)/2])
}

// HalfThenSilence sends half of the answer and waits until the client goes.
func HalfThenSilence(e Exchange) {
	e.w.Header().Set("Content-Length", strconv.Itoa(len(e.Answer)))
	e.w.WriteHeader(e.Status)
	_, _ = e.w.Write(e.Answer[:len(e.Answer)/2])
	_ = http.NewResponseController(e.w).Flush()
	<-e.r.Context().Done()
}

// Silence waits until the client goes.
func Silence(e Exchange) { <-e.r.Context().Done() }

// Gate holds answers back until it is opened. Make one with [NewGate].
type Gate struct {
	once sync.Once
	open chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{})} }

// Open lets every answer pass, now and later.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Hold is the behaviour of waiting at the gate, or until the client goes.
func (g *Gate) Hold(e Exchange) {
	select {
	case <-g.open:
		asItShould(e)
	case <-e.r.Context().Done():
	}
}

// When behaves as behaviour for the requests whose body holds text, and as it
// should for all others.
func When(text string, behaviour Behaviour) Behaviour {
	return func(e Exchange) {
		if bytes.Contains(e.Request.Body, []byte(text)) {
			behaviour(e)
		} else {
			asItShould(e)
		}
	}
}
