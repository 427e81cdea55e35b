package main

import (
	"context"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/src/mcpserver"
	"external-context.internal/appliance/src/provider"
)

// mcp serves one MCP session on stdin and stdout.
func (p process) mcp(ctx context.Context) int {
	cfg, err := config.LoadVersion1(p.lookup)
	if err != nil {
		return p.startFailure(err)
	}
	searcher, err := provider.NewSearcher(cfg, provider.NetworkFrom(p.lookup))
	if err != nil {
		return p.startFailure(err)
	}
	server := mcpserver.Server{Version: build().version, Searcher: searcher}
	if err := server.Run(ctx, p.stdin, p.stdout); err != nil {
		return exitFailed
	}
	return exitOK
}
