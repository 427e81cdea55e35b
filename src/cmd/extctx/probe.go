package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/src/jstext"
	"external-context.internal/appliance/src/provider"
	"external-context.internal/appliance/src/query"
)

// probe searches once for an administrator who wants to know whether the provider
// can be reached. It prints what kind of answer came, never the answer.
func (p process) probe(ctx context.Context, text string) int {
	folded, err := query.Fold(jstext.FromString(text))
	if err != nil {
		p.complain(err.Error())
		return exitUsage
	}
	cfg, err := config.Load(p.lookup)
	if err != nil {
		return p.startFailure(err)
	}
	searcher, err := provider.NewSearcher(cfg, provider.NetworkFrom(p.lookup))
	if err != nil {
		return p.startFailure(err)
	}
	start := time.Now()
	items, err := searcher.Search(ctx, folded, query.Limit)
	elapsed := time.Since(start)
	fmt.Fprintf(p.stdout, "provider:     %s\noutcome:      %s\nmilliseconds: %d\nitems:        %d\n",
		cfg.Provider.Type, outcome(err), elapsed.Milliseconds(), len(items))
	if err != nil {
		return exitFailed
	}
	return exitOK
}

// outcome names the class of a search's result.
func outcome(err error) string {
	var failure *provider.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &failure):
		return failure.Error()
	}
	return string(provider.ClassTransport)
}
