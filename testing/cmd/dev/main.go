// Command dev is what ./dev runs: the few things a person does with this
// repository. It knows the steps and their order; what a step checks is in the Go
// packages and tools it starts.
//
// # Output
//
// These rules hold for all that dev prints:
//
//   - a step starts with a line "== name", then shows what it says itself;
//   - what could not be run is listed at the end, with the reason and the mend;
//   - the last line of test is "N passed, N failed, N skipped";
//   - dev's own complaints are one line on stderr that starts with "dev: ".
//
// # Exit status
//
// 0 if all that was run is well, 1 if something is not, 64 for a wrong command
// line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 64
)

// errFailed says that something is not well and that it has been shown.
var errFailed = errors.New("not well")

// command is one subcommand.
type command struct {
	name, arguments, summary string
	run                      func(context.Context, *bench, []string) error
}

// commands are all subcommands, in the order of the help text.
func commands() []command {
	return []command{
		{"demo", `[--image] ["question"]`, "search a sample corpus through the product and show what happens", demo},
		{"test", "", "run every check and test that this machine can run", test},
		{"lint", "", "run the checks of test without the tests", lint},
		{"bench", "", "measure speed and memory beside a Node server, as ratios", measure},
		{"fuzz", "[duration]", "fuzz every target for a while each (default 60s)", fuzz},
		{"image", "", "build the image with Bazel and load it into the container engine", image},
		{"setup", "", "install the npm packages that some tests need", setup},
		{"help", "", "show this", nil},
	}
}

// bench is the place a subcommand works at: the repository's root as the working
// directory, and the two outputs.
type bench struct {
	stdout, stderr io.Writer
	ci             bool // a missing tool is a failure
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{stdout: os.Stdout, stderr: os.Stderr, ci: os.Getenv("CI") == "true"}
	os.Exit(b.dispatch(ctx, os.Args[1:]))
}

// dispatch runs one subcommand and returns the exit status.
func (b *bench) dispatch(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		help(b.stdout)
		return exitOK
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		if len(args)-1 > 0 && c.arguments == "" || len(args) > 3 || len(args) == 3 && args[1] != "--image" {
			fmt.Fprintf(b.stderr, "dev: too many arguments for %s; ./dev help lists them, and quotes keep words together\n", c.name)
			return exitUsage
		}
		switch err := c.run(ctx, b, args[1:]); {
		case err == nil:
			return exitOK
		case !errors.Is(err, errFailed):
			fmt.Fprintf(b.stderr, "dev: %v\n", err)
		}
		return exitFailed
	}
	fmt.Fprintln(b.stderr, "dev: no such command; ./dev help lists them")
	return exitUsage
}

func help(w io.Writer) {
	fmt.Fprint(w, "External Context Appliance\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  ./dev %-28s %s\n", c.name+" "+c.arguments, c.summary)
	}
	fmt.Fprint(w, "\nWith CI=true a tool that is missing is a failure and not a skip.\n")
}
