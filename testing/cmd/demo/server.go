package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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
	// given returns what the command passes on to the product, a line each.
	given func(cmd *exec.Cmd) []string
	// fileMode is the mode of the files: who must be able to read them.
	fileMode os.FileMode
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
		given:    func(cmd *exec.Cmd) []string { return cmd.Env },
		fileMode: 0o600,
	}
}

// sealedServer is the loaded image, run as it is meant to be. It is on the
// machine's network, because the demo's provider is on its loopback.
func sealedServer() server {
	var docker, image string
	return server{
		shown:        "the sealed image",
		prepareShown: "docker image inspect external-context:latest",
		prepare: func(string) error {
			path, err := exec.LookPath("docker")
			if err != nil {
				return errors.New("docker is missing: install a container engine")
			}
			id, err := exec.Command(path, "image", "inspect", "--format", "{{.Id}}", "external-context:latest").Output()
			if err != nil {
				return errors.New("the image is missing: run ./dev image")
			}
			docker, image = path, strings.TrimSpace(string(id))
			return nil
		},
		command: func(dir string, files sessionFiles) *exec.Cmd {
			cmd := exec.Command(docker, "run", "--rm", "-i", "--pull=never", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
				"--pids-limit=64", "--memory=128m", "--user=65532:65532", "--log-driver=none", "--network=host",
				"--mount=type=bind,src="+files.config+",dst=/config/provider.json,readonly",
				"--mount=type=bind,src="+files.token+",dst=/config/token,readonly",
				"--env="+configVariable+"=/config/provider.json", "--env="+tokenVariable+"_FILE=/config/token", image, "mcp")
			cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
			return cmd
		},
		given:    func(cmd *exec.Cmd) []string { return cmd.Args },
		fileMode: 0o644, // the container has a user of its own
	}
}
