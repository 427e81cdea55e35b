package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// client is an MCP client with as little in it as possible, so that it is the
// server that is measured. It speaks to one server on its stdio.
type client struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
}

// startClient starts a server with exactly the environment.
func startClient(ctx context.Context, env []string, program string, args ...string) (*client, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &client{cmd: cmd, stdin: stdin, lines: bufio.NewReaderSize(stdout, 1<<20)}, nil
}

// stop ends the server by ending its input.
func (c *client) stop() {
	_ = c.stdin.Close()
	ended := make(chan struct{})
	go func() { _ = c.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		<-ended
	}
}

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// initialize sends the handshake and waits for the answer.
func (c *client) initialize() error {
	if err := c.send(handshake); err != nil {
		return err
	}
	if _, err := c.receive(); err != nil {
		return err
	}
	return c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) send(frame string) error {
	_, err := io.WriteString(c.stdin, frame+"\n")
	return err
}

// answer is what the bench looks at in a frame.
type answer struct {
	ID     int
	Result struct{ IsError bool }
	Error  *struct{ Message string }
}

func (c *client) receive() (answer, error) {
	var a answer
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Error != nil || a.Result.IsError {
		return a, errors.New("a server answered with an error")
	}
	return a, nil
}

func (c *client) ask(id int, query string) error {
	return c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"context_search","arguments":{"query":%q}}}`, id, query))
}

// search does one search from call to result.
func (c *client) search(id int) error {
	if err := c.ask(id, "how do we deploy"); err != nil {
		return err
	}
	_, err := c.receive()
	return err
}

// resident returns the server's resident memory in KiB.
func (c *client) resident() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			return kib, nil
		}
	}
	return 0, errors.New("no VmRSS in /proc")
}
