// Command demo shows one search from end to end on a machine that has only Go: a
// provider over a sample corpus, the product as an MCP client starts it, one
// question, and everything that passed between them.
//
// This package owns the order of the steps, the clean-up and what is shown. It
// knows the product only as a command that speaks MCP: how that command comes to
// be is a value, see [server].
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"external-context.internal/appliance/testing/need"
)

// defaultQuestion is asked when the person asks none.
const defaultQuestion = "How do I roll back a bad deploy?"

const usage = `usage: demo [--image] ["question"]

Builds extctx, starts a provider on the sample corpus (testing/sample), lets a
real MCP client search it for the question, and shows what happened. Nothing is
left running. Run it inside the repository. With --image the loaded image is run
in a sealed container instead of what was built.
`

func main() {
	// Also a second Ctrl-C only ends the demo the clean way: every wait is bounded.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:]))
}

// command carries out one command line and returns the exit status: 0 if the
// search was answered, 1 if not.
func command(ctx context.Context, args []string) int {
	if len(args) == 1 && (args[0] == "-help" || args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(os.Stdout, usage)
		return 0
	}
	sealed := len(args) > 0 && args[0] == "--image"
	if sealed {
		args = args[1:]
	}
	question := defaultQuestion
	if len(args) > 0 {
		question = strings.Join(args, " ")
	}
	root, err := need.FindRoot()
	if err == nil {
		shown := builtServer(root)
		if sealed {
			shown = sealedServer()
		}
		d := demo{
			page:   page{out: os.Stdout, colour: wantsColour(os.Stdout, os.LookupEnv)},
			corpus: filepath.Join(root, filepath.FromSlash(corpusFolder)),
			server: shown,
		}
		err = d.run(ctx, question)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "demo: %v\n", err)
	return 1
}
