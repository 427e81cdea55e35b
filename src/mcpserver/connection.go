package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection carries JSON-RPC frames, one a line, between stdio and the library.
// It is the product's own, where the library has one, for three reasons: a line
// that is no frame is answered and does not end the session; calls in flight when
// the input ends are still answered; and an error's text, which the library
// builds from what the client sent, is replaced by a fixed one.
type connection struct {
	shutdown    context.Context // cancelled by a signal
	cancelCalls context.CancelFunc
	lines       <-chan line
	ended       chan struct{} // closed when Read has reported the end

	writing sync.Mutex // guards out, and is held for as long as a write blocks
	out     io.Writer

	complaints chan struct{} // holds a token for each answer to no frame under way

	mu      sync.Mutex              // guards pending
	pending map[jsonrpc.ID]struct{} // calls read and not answered
	idle    chan struct{}           // holds a token whenever pending has become empty
}

// Connect makes the connection its own transport, used for one session.
func (c *connection) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// newConnection starts reading in. When shutdown is cancelled, or in ends and its
// grace is over, cancelCalls is called.
func newConnection(shutdown context.Context, cancelCalls context.CancelFunc, in io.Reader, out io.Writer) *connection {
	return &connection{
		shutdown:    shutdown,
		cancelCalls: cancelCalls,
		lines:       readLines(in),
		ended:       make(chan struct{}),
		out:         out,
		complaints:  make(chan struct{}, maxComplaints),
		pending:     map[jsonrpc.ID]struct{}{},
		idle:        make(chan struct{}, 1),
	}
}

// Read returns the next frame from the client. At the end it waits for the calls
// in flight, then returns [io.EOF].
func (c *connection) Read(context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-c.shutdown.Done():
			return nil, c.end(0)
		case l, ok := <-c.lines:
			if !ok {
				return nil, c.end(endGrace)
			}
			if message, ok := c.decode(l); ok {
				return message, nil
			}
		}
	}
}

// decode returns the frame on a line, or answers a line that holds none.
func (c *connection) decode(l line) (jsonrpc.Message, bool) {
	if l.tooLong || !json.Valid(l.text) {
		c.answerNoFrame(jsonrpc.CodeParseError)
		return nil, false
	}
	message, err := jsonrpc.DecodeMessage(l.text)
	if err != nil {
		c.answerNoFrame(jsonrpc.CodeInvalidRequest)
		return nil, false
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.mu.Lock()
		c.pending[request.ID] = struct{}{}
		c.mu.Unlock()
	}
	return message, true
}

// maxComplaints bounds the answers to lines that are no frames which wait to be
// written.
const maxComplaints = 64

// answerNoFrame answers a line that is no valid frame, and so without an id. It does
// not wait for the client to read the answer, or the end of the input would not be
// seen; a client that reads none of many misses some. A failure to write shows when
// the next answer is written.
func (c *connection) answerNoFrame(code int64) {
	frame, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, fixedError(&jsonrpc.Error{Code: code})})
	if err != nil {
		return
	}
	select {
	case c.complaints <- struct{}{}:
		go func() {
			_ = c.writeLine(frame)
			<-c.complaints
		}()
	default:
	}
}

// writeLine writes one frame.
func (c *connection) writeLine(frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(frame, '\n'))
	return err
}

// end waits until no call is in flight: up to grace before they are cancelled,
// and a little after.
func (c *connection) end(grace time.Duration) error {
	defer close(c.ended)
	if !c.waitIdle(grace, c.shutdown.Done()) {
		c.cancelCalls()
		c.waitIdle(endDrain, nil)
	}
	return io.EOF
}

// waitIdle reports that no call is in flight, waiting for it up to limit or until
// stop is closed.
func (c *connection) waitIdle(limit time.Duration, stop <-chan struct{}) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		c.mu.Lock()
		pending := len(c.pending)
		c.mu.Unlock()
		if pending == 0 {
			return true
		}
		select {
		case <-c.idle:
		case <-stop:
			return false
		case <-timeout.C:
			return false
		}
	}
}

// Write sends one frame to the client.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	response, isResponse := message.(*jsonrpc.Response)
	if isResponse && response.Error != nil {
		message = &jsonrpc.Response{ID: response.ID, Error: fixedError(response.Error)}
	}
	frame, err := jsonrpc.EncodeMessage(message)
	if err == nil {
		err = c.writeLine(frame)
	}
	if isResponse {
		c.answered(response.ID)
	}
	return err
}

// answered takes a call out of those in flight.
func (c *connection) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
	if len(c.pending) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// Close ends the session for the library. There is nothing to release: stdin and
// stdout belong to the process.
func (c *connection) Close() error { return nil }

// SessionID returns "": stdio has one session.
func (c *connection) SessionID() string { return "" }

// fixedError returns a protocol error with a text that depends on its code alone.
// The data of a version mismatch is kept: it lists the versions to choose from.
func fixedError(err error) *jsonrpc.Error {
	var protocol *jsonrpc.Error
	if !errors.As(err, &protocol) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request"}
	}
	fixed := &jsonrpc.Error{Code: protocol.Code}
	switch protocol.Code {
	case jsonrpc.CodeParseError:
		fixed.Message = "Parse error"
	case jsonrpc.CodeMethodNotFound:
		fixed.Message = "Method not found"
	case jsonrpc.CodeInvalidParams:
		fixed.Message = "Invalid params"
	case mcp.CodeUnsupportedProtocolVersion:
		fixed.Message, fixed.Data = "Unsupported protocol version", protocol.Data
	case jsonrpc.CodeInternalError:
		fixed.Message = "Internal error"
	default:
		fixed.Message = "Invalid request"
	}
	return fixed
}
