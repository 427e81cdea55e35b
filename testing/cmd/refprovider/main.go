// Command refprovider serves Generic HTTP Search V1 over a folder of Markdown
// files, on loopback, for people who have no provider. See [usage].
//
// This package owns the command line, the token and the signals; the service is
// package refprovider's.
//
// # Output
//
// stdout carries what is served and how to use it, once, after the listener is
// open. stderr carries at most one line, "refprovider: " and what is wrong. No
// query and no token from a file or the environment is printed.
//
// Exit status: 0 after a stop by SIGINT or SIGTERM, 1 if it could not serve, 64 if
// the command line is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"external-context.internal/appliance/testing/refprovider"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 64
)

const usage = `usage: refprovider [-listen ADDRESS] [-token-file FILE] FOLDER

Serves Generic HTTP Search V1 over the Markdown files of FOLDER, to this machine
only. Each section of a file is one result. Hidden files and symbolic links are
skipped. The files are read once: start it again after a change.

  -listen ADDRESS     loopback address and port (default 127.0.0.1:8765);
                      port 0 takes any free one
  -token-file FILE    file with the bearer token, one line; if there is no such
                      file, it is made with a new token, readable only by you

Without -token-file the token is taken from the environment variable
CONTEXT_API_TOKEN; if that is not set either, a new one is made and printed.

Try it:
  refprovider -token-file ./token testing/sample
  curl -H "Authorization: Bearer $(cat ./token)" -H "Content-Type: application/json" \
       -d '{"query":"roll back a deploy","limit":3}' http://127.0.0.1:8765/v1/context/search

Stop it with Ctrl-C.
`

// errUsage reports a command line that is wrong.
var errUsage = errors.New("wrong command line; refprovider -help shows the right one")

// process is what the program may touch of the world.
type process struct {
	lookup func(string) (string, bool)
	stdout io.Writer
	stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := process{lookup: os.LookupEnv, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit status.
func (p process) run(ctx context.Context, args []string) int {
	options, err := parseOptions(args)
	if err == flag.ErrHelp {
		fmt.Fprint(p.stdout, usage)
		return exitOK
	}
	if err == nil {
		err = p.serve(ctx, options)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(p.stderr, "refprovider: %v\n", err)
	if err == errUsage {
		return exitUsage
	}
	return exitFailed
}

// options is a parsed command line.
type options struct {
	address   string
	tokenFile string
	folder    string
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("refprovider", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.address, "listen", "127.0.0.1:8765", "")
	flags.StringVar(&o.tokenFile, "token-file", "", "")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return o, err
		}
		return o, errUsage
	}
	if flags.NArg() != 1 {
		return o, errUsage
	}
	o.folder = flags.Arg(0)
	return o, nil
}

// serve opens everything before it prints anything, and serves until ctx ends.
func (p process) serve(ctx context.Context, o options) error {
	passages, err := refprovider.LoadFolder(o.folder)
	if err != nil {
		return err
	}
	if len(passages) == 0 {
		return errors.New("the folder has no Markdown text to search")
	}
	index, err := refprovider.NewIndex(passages)
	if err != nil {
		return err
	}
	defer index.Close()
	token, err := findToken(p.lookup, o.tokenFile)
	if err != nil {
		return err
	}
	listener, err := refprovider.Listen(ctx, o.address)
	if err != nil {
		return err
	}
	p.announce(listener.Addr(), len(passages), token)
	return refprovider.Serve(ctx, listener, refprovider.NewHandler(index, token.value))
}

func (p process) announce(address net.Addr, passages int, token token) {
	fmt.Fprintf(p.stdout, `Generic HTTP Search V1 on http://%s%s
  passages  %d
  token     %s

A configuration for extctx mcp:
  {"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"http://%[1]s","tokenEnv":"%[5]s"}}

Stop with Ctrl-C.
`, address, refprovider.SearchPath, passages, token.origin, tokenVariable)
}
