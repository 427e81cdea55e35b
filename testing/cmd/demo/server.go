package main

import (
	"os/exec"
	"path/filepath"

	"external-context.internal/appliance/testing/need"
)

// The environment variables the product reads here (contract section 2).
const (
	configVariable = "QWEN_EXTERNAL_CONTEXT_CONFIG"
	tokenVariable  = "CONTEXT_API_TOKEN"
)

// configFile is the configuration's name in the temporary directory.
const configFile = "provider.json"

// server is one form of the product that can be shown.
type server struct {
	// shown is the command as the person would name it.
	shown string
	// prepareShown says what prepare does.
	prepareShown string
	// prepare makes the command startable, with files in dir if it needs any.
	prepare func(dir string) error
	// command returns the command that speaks MCP on its stdin and stdout, not yet
	// started, with its whole environment.
	command func(dir string, files sessionFiles) *exec.Cmd
}

// sessionFiles are the absolute paths of what an administrator provides.
type sessionFiles struct {
	config string
	token  string
}

// builtServer is extctx built from the source at root and run as it is.
func builtServer(root string) server {
	program := func(dir string) string { return filepath.Join(dir, "extctx") }
	return server{
		shown:        "extctx mcp",
		prepareShown: "go build ./src/cmd/extctx",
		prepare:      func(dir string) error { return need.GoBuild(root, "src/cmd/extctx", program(dir)) },
		command: func(dir string, files sessionFiles) *exec.Cmd {
			cmd := exec.Command(program(dir), "mcp")
			cmd.Env = []string{configVariable + "=" + files.config, tokenVariable + "_FILE=" + files.token}
			return cmd
		},
	}
}
