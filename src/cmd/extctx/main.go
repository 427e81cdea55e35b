// Command extctx is the only program in the image. Its subcommands are the
// image's entrypoints (contract section 1).
//
// This package owns the subcommand table, the exit statuses and the signals. What
// a subcommand does is elsewhere.
//
// # Output
//
// These rules hold for all that extctx prints, and only this package prints:
//
//   - stdout carries protocol frames, or a subcommand's answer, and nothing else;
//   - stderr carries at most one line, and only before the protocol starts;
//   - every line is fixed at compile time: nothing that came from configuration,
//     network, model or user is in it.
//
// # Exit status
//
//   - 0: the session ended, or the answer is good news;
//   - 1: probe did not get an answer, or mcp could not go on;
//   - 64: the command line is wrong;
//   - 78: the configuration is wrong, or the start failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"external-context.internal/appliance/src/config"
	"golang.org/x/term"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 64
	exitConfig = 78
)

// The lines that are not the configuration's own (contract section 10).
const (
	lineFailed = "External context failed to start."
	lineUsage  = `usage: extctx mcp | extctx probe "query" | extctx version`
	// A terminal echoes what is sent and changes line ends, so frames on it would
	// not be clean.
	lineTerminal = "extctx mcp is started by an MCP client with pipes, not from a terminal. To try it: extctx probe"
)

// process is what a subcommand may touch of the world.
type process struct {
	lookup config.LookupEnv
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// terminal is whether stdin is one.
	terminal bool
}

func main() {
	// net/http reports through the default logger, and repeats what a provider sent.
	log.SetOutput(io.Discard)
	// The handler is set before anything else: as PID 1 a process without one
	// does not hear these signals at all.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := process{lookup: os.LookupEnv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, terminal: term.IsTerminal(syscall.Stdin)}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit status.
func (p process) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		return p.usage()
	}
	switch command, rest := args[0], args[1:]; {
	case command == "mcp" && len(rest) == 0 && p.terminal:
		p.complain(lineTerminal)
		return exitUsage
	case command == "mcp" && len(rest) == 0:
		return p.mcp(ctx)
	case command == "probe" && len(rest) == 1:
		return p.probe(ctx, rest[0])
	case command == "version" && len(rest) == 0:
		return p.version()
	}
	return p.usage()
}

func (p process) usage() int {
	p.complain(lineUsage)
	return exitUsage
}

// startFailure prints the one line for an error before the start.
func (p process) startFailure(err error) int {
	var rule *config.Error
	if errors.As(err, &rule) {
		p.complain(rule.Error())
	} else {
		p.complain(lineFailed)
	}
	return exitConfig
}

// complain prints one line to stderr. There is nowhere to report that it failed.
func (p process) complain(line string) {
	_, _ = fmt.Fprintln(p.stderr, line)
}
