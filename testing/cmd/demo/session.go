package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocolVersion is the one most clients speak; it begins with initialize.
const protocolVersion = "2025-11-25"

const (
	// startLimit bounds start and initialize, also of a container.
	startLimit = 30 * time.Second
	// callLimit bounds one call.
	callLimit = 30 * time.Second
	// endLimit is how long the product may take to end after its stdin has; it
	// promises one second (contract section 1).
	endLimit = 3 * time.Second
	// maxComplaint is how much of the product's stderr is kept, in bytes.
	maxComplaint = 4 << 10
)

// session is a running product with an MCP client connected to it.
type session struct {
	client  *mcp.ClientSession
	process *exec.Cmd
	stderr  *complaint
}

// startSession starts the command and initializes an MCP session with it.
func startSession(ctx context.Context, command *exec.Cmd) (*session, error) {
	s := &session{process: command, stderr: new(complaint)}
	command.Stderr = s.stderr
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "external-context-demo", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	transport := &mcp.CommandTransport{Command: command, TerminateDuration: endLimit}
	connected, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err == nil {
		s.client = connected
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if line := s.stderr.firstLine(); line != "" {
		return nil, fmt.Errorf("the MCP server did not start: %s", line)
	}
	return nil, fmt.Errorf("the MCP server did not start: %w", err)
}

// tools lists what the product offers.
func (s *session) tools(ctx context.Context) ([]*mcp.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	listed, err := s.client.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("listing the tools: %w", err)
	}
	return listed.Tools, nil
}

// search calls context_search.
func (s *session) search(ctx context.Context, question string) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	result, err := s.client.CallTool(ctx, &mcp.CallToolParams{
		Name: "context_search", Arguments: map[string]any{"query": question},
	})
	if err != nil {
		return nil, fmt.Errorf("calling context_search: %w", err)
	}
	return result, nil
}

// end closes the product's stdin and waits for it to end by itself. If it does
// not, it is terminated, at last killed, and that is an error.
func (s *session) end() error {
	start := time.Now()
	err := s.client.Close()
	switch {
	case s.process.ProcessState == nil:
		return errors.New("the MCP server could not be stopped")
	case time.Since(start) >= endLimit:
		return errors.New("the MCP server did not end with its stdin and was terminated")
	case err != nil:
		return fmt.Errorf("the MCP server ended badly: %w", err)
	}
	return nil
}

// complaint keeps the beginning of what a process says on stderr.
type complaint struct{ buffer bytes.Buffer }

// Write keeps what still fits and takes the rest as written.
func (c *complaint) Write(data []byte) (int, error) {
	c.buffer.Write(data[:min(len(data), maxComplaint-c.buffer.Len())])
	return len(data), nil
}

// firstLine returns the first line; the process must have ended.
func (c *complaint) firstLine() string {
	line, _, _ := strings.Cut(c.buffer.String(), "\n")
	return printable(line)
}
