// Package mcpserver is the product's face towards the MCP client: one server on
// stdio with one tool, context_search (contract sections 3 and 6).
//
// It owns the tool's schemas and results, the frames on stdin and stdout, and how
// the process ends. It knows no provider, reads no configuration, and logs
// nothing.
package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"external-context.internal/appliance/src/envelope"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServerName is the name the server gives itself, and the name under which
// permission rules find its tools.
const ServerName = "external-context"

// How long the parts of ending may take. Together they stay under the second
// that contract section 1 allows.
const (
	// endGrace is how long calls in flight may go on after stdin has ended.
	endGrace = 500 * time.Millisecond
	// endDrain is how long cancelled calls may take to answer.
	endDrain = 250 * time.Millisecond
	// endClose is how long the session may take to close after that.
	endClose = 100 * time.Millisecond
)

// Searcher searches the one corpus of this process. It must serve concurrent
// calls and end when ctx does.
type Searcher interface {
	Search(ctx context.Context, query string, limit int) ([]envelope.Item, error)
}

// Server is what one MCP session is made of.
type Server struct {
	// Version is the product's version, as the client is told.
	Version string
	// Searcher answers context_search.
	Searcher Searcher
}

// Run serves one session on in and out until in ends or ctx is cancelled. When in
// ends, calls in flight have 500 ms to finish before they are cancelled; when ctx
// is cancelled they are cancelled at once. Either way Run returns within 1 s,
// every call answered that could be.
//
// Run may leave goroutines blocked on in or out: the process is expected to exit.
func (s Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	// Calls have a context of their own, because the library answers no call
	// once it has seen the input end.
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelCalls()
	connection := newConnection(ctx, cancelCalls, in, out)
	session, err := s.newMCP(calls).Connect(calls, connection, nil)
	if err != nil {
		return err
	}
	closed := make(chan error, 1)
	go func() { closed <- session.Wait() }()
	select {
	case err := <-closed:
		return err
	case <-connection.ended:
	case <-ctx.Done():
		// What reads may be held up by a client that does not, so it is not waited
		// for beyond its time.
		select {
		case err := <-closed:
			return err
		case <-connection.ended:
		case <-time.After(endDrain + endClose):
			return nil
		}
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(endClose):
		return nil // a client that reads no more cannot hold the process
	}
}

// newMCP returns the library's server with the tools of this process. Every call
// ends when calls does.
func (s Server) newMCP(calls context.Context) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: ServerName, Version: s.Version},
		&mcp.ServerOptions{
			// Without this the library offers logging and list changes.
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	server.AddTool(searchTool(), until(calls, s.search))
	exact := annotations{SearchToolName: json.RawMessage(searchAnnotations)}
	server.AddReceivingMiddleware(exact.exactly)
	return server
}

// until returns a handler whose calls also end when parent does.
func until(parent context.Context, handler mcp.ToolHandler) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(parent, cancel)()
		return handler(ctx, request)
	}
}
