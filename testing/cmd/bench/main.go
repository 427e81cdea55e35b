// Command bench measures what the product promises of its speed and size, beside a
// Node server with the official SDK that does the same work. Figures of two
// machines say nothing of each other; the ratios of one run do.
//
// It owns the measuring and the table. A goal that is missed is shown as missed
// and is no failure of the run: timing is not a test.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"external-context.internal/appliance/testing/fakes"
	"external-context.internal/appliance/testing/need"
)

const (
	starts   = 21   // measured starts of each server
	searches = 1000 // searches before memory is read, and pairs that are compared
	parallel = 64   // searches beside a slow one
	maxSize  = 9 << 20
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// run measures everything and prints a row for each figure.
func run(ctx context.Context, w io.Writer) error {
	root, err := need.FindRoot()
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "external-context-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	place, err := newPlace(root, directory)
	if err != nil {
		return err
	}
	defer place.fake.Close()

	fmt.Fprintf(w, "%-46s %12s %12s %10s  %s\n", "", "extctx", "Node server", "ratio", "goal")
	for _, measure := range []func(context.Context, io.Writer) error{place.size, place.start, place.memory, place.added, place.queue, place.container} {
		if err := measure(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// place is where the servers are measured: the built program, the fake they
// search, and the commands that start them.
type place struct {
	root, directory, extctx, node string
	token                         string
	fake                          *fakes.GenericHTTP
}

func newPlace(root, directory string) (*place, error) {
	p := &place{root: root, directory: directory, extctx: filepath.Join(directory, "extctx"), token: fakes.Canary()}
	if err := need.GoBuild(root, "src/cmd/extctx", p.extctx); err != nil {
		return nil, err
	}
	node, err := need.FindNode(root)
	if err != nil {
		return nil, err
	}
	p.node = node
	fake, err := fakes.NewGenericHTTP(p.token, nil)
	if err != nil {
		return nil, err
	}
	fake.SetItems(items(5)...)
	p.fake = fake
	config := fmt.Sprintf(`{"version":1,"timeoutMs":30000,"provider":{"type":"generic-http-search-v1","baseUrl":%q,"tokenEnv":"TOKEN"}}`, fake.URL())
	return p, errors.Join(
		os.Chmod(directory, 0o755), // the container has a user of its own
		os.WriteFile(p.config(), []byte(config), 0o644),
		os.WriteFile(filepath.Join(directory, "token"), []byte(p.token), 0o644))
}

func (p *place) config() string { return filepath.Join(p.directory, "provider.json") }

// items is a corpus of n documents of the size people have.
func items(n int) []fakes.Item {
	var list []fakes.Item
	for i := range n {
		list = append(list, fakes.Item{ID: fmt.Sprintf("doc-%d", i), Content: strings.Repeat("What the team knows about deploys. ", 17),
			Title: "Deploying", URI: "docs/deploy.md", UpdatedAt: "2026-07-23T00:00:00Z"})
	}
	return list
}

// product starts the product's server.
func (p *place) product(ctx context.Context) (*client, error) {
	return startClient(ctx, []string{"QWEN_EXTERNAL_CONTEXT_CONFIG=" + p.config(), "TOKEN=" + p.token}, p.extctx, "mcp")
}

// comparison starts the Node server.
func (p *place) comparison(ctx context.Context) (*client, error) {
	return startClient(ctx, []string{"SEARCH_ORIGIN=" + p.fake.URL(), "SEARCH_TOKEN=" + p.token},
		p.node, filepath.Join(p.root, "testing", "node", "search-server.mjs"))
}
