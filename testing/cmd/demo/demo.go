package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errInterrupted reports that the person or the system stopped the demo.
var errInterrupted = errors.New("interrupted")

// demo is one showing.
type demo struct {
	page   page
	corpus string
	server server
}

// run asks the question and shows what happens. However it ends, it stops what it
// started and removes what it wrote, in bounded time.
func (d demo) run(ctx context.Context, question string) error {
	s := new(stage)
	err := d.show(ctx, question, s)
	if ctx.Err() != nil {
		err = errInterrupted // whatever failed, failed because of it
	}
	start := time.Now()
	if failed := s.started.undo(); failed != nil {
		return errors.Join(err, failed)
	}
	d.page.stopped(time.Since(start))
	return err
}

// stage is what a showing has set up so far.
type stage struct {
	started  cleanup
	dir      string // temporary, holds all files
	provider *provider
	config   []byte // the configuration's text
	files    sessionFiles
	session  *session
}

// show carries out the steps in order. What it starts or makes, it notes in s.
func (d demo) show(ctx context.Context, question string, s *stage) error {
	d.page.title(question)
	for _, step := range []func(context.Context, *stage) error{d.prepare, d.openProvider, d.configure, d.openSession} {
		if err := step(ctx, s); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return d.search(ctx, question, s)
}

// prepare makes the temporary directory and, with it, the product startable.
func (d demo) prepare(_ context.Context, s *stage) (err error) {
	if s.dir, err = os.MkdirTemp("", "external-context-demo-"); err != nil {
		return err
	}
	s.started.add(func() error { return os.RemoveAll(s.dir) })
	d.page.begin("Build", d.server.prepareShown)
	start := time.Now()
	if err := d.server.prepare(s.dir); err != nil {
		d.page.broken()
		return fmt.Errorf("%s could not be prepared; run %q to see why", d.server.shown, d.server.prepareShown)
	}
	d.page.done(time.Since(start))
	return nil
}

func (d demo) openProvider(ctx context.Context, s *stage) (err error) {
	start := time.Now()
	if s.provider, err = startProvider(ctx, d.corpus); err != nil {
		return err
	}
	s.started.add(s.provider.stop)
	indexed := fmt.Sprintf("%d passages of %s", s.provider.passages, corpusFolder)
	d.page.step("Index", indexed, time.Since(start))
	return nil
}

// configure writes what an administrator provides: a version 1 configuration and
// the token in a file of its own (contract section 2).
func (d demo) configure(_ context.Context, s *stage) (err error) {
	provider := configuredProvider{Type: "generic-http-search-v1", BaseURL: s.provider.origin, TokenEnv: tokenVariable}
	s.config, err = json.MarshalIndent(configuration{Version: 1, Provider: provider}, "", "  ")
	if err != nil {
		return err
	}
	s.files = sessionFiles{config: filepath.Join(s.dir, configFile), token: filepath.Join(s.dir, "token")}
	if err := os.WriteFile(s.files.config, s.config, d.server.fileMode); err != nil {
		return err
	}
	return os.WriteFile(s.files.token, []byte(s.provider.token+"\n"), d.server.fileMode)
}

func (d demo) openSession(ctx context.Context, s *stage) (err error) {
	start := time.Now()
	if s.session, err = startSession(ctx, d.server.command(s.dir, s.files)); err != nil {
		return err
	}
	s.started.add(s.session.end)
	d.page.step("Start", d.server.shown+", until its answer to initialize", time.Since(start))
	return nil
}

// search asks the question and shows what was sent, found and given back.
func (d demo) search(ctx context.Context, question string, s *stage) error {
	tools, err := s.session.tools(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	result, err := s.session.search(ctx, question)
	if err != nil {
		return err
	}
	took, seen := time.Since(start), s.provider.log.list()
	var within time.Duration
	for _, e := range seen {
		within += e.took
	}
	d.page.step("Search", "context_search, from call to result", took)
	d.page.part("in the provider", within)
	d.page.part("added by extctx and MCP", took-within)
	d.page.given(d.server.given(s.session.process), s.dir, s.config)
	d.page.tools(tools)
	d.page.requests(seen, s.provider.token)
	text := resultText(result)
	if result.IsError {
		d.page.refused(text)
		return errors.New("the search was not answered")
	}
	if err := d.page.items(seen); err != nil {
		return err
	}
	return d.page.envelope(text)
}

// resultText returns the text of a tool's result, as a model is given it.
func resultText(result *mcp.CallToolResult) string {
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

// configuration is a version 1 configuration (contract section 2).
type configuration struct {
	Version  int                `json:"version"`
	Provider configuredProvider `json:"provider"`
}

type configuredProvider struct {
	Type     string `json:"type"`
	BaseURL  string `json:"baseUrl"`
	TokenEnv string `json:"tokenEnv"`
}

// cleanup is what must be undone, in the order it was done.
type cleanup struct{ steps []func() error }

func (c *cleanup) add(step func() error) { c.steps = append(c.steps, step) }

// undo carries out every step, the last first, also when one fails.
func (c *cleanup) undo() error {
	var failed []error
	for _, step := range slices.Backward(c.steps) {
		failed = append(failed, step())
	}
	return errors.Join(failed...)
}
