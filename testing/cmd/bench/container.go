package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sealed is the sealed command line up to the image: on the machine's network,
// because the fake is on its loopback.
func (p *place) sealed(image string, command ...string) []string {
	args := []string{"run", "--rm", "-i", "--pull=never", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
		"--pids-limit=64", "--memory=128m", "--user=65532:65532", "--log-driver=none", "--network=host",
		"--mount=type=bind,src=" + p.config() + ",dst=/config/provider.json,readonly",
		"--mount=type=bind,src=" + filepath.Join(p.directory, "token") + ",dst=/config/token,readonly",
		"--env=QWEN_EXTERNAL_CONTEXT_CONFIG=/config/provider.json", "--env=TOKEN_FILE=/config/token", image}
	return append(args, command...)
}

// container shows the time from the start of a sealed container to the answer to
// initialize, beside the Node server started bare, and the engine's own share of
// it: a container that only prints its version.
func (p *place) container(ctx context.Context, w io.Writer) error {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return notMeasured(w, "a container engine is missing")
	}
	id, err := exec.CommandContext(ctx, docker, "image", "inspect", "--format", "{{.Id}}", "external-context:latest").Output()
	if err != nil {
		return notMeasured(w, "run ./dev image first")
	}
	image := strings.TrimSpace(string(id))
	times := map[string][]time.Duration{}
	for range starts {
		for name, start := range map[string]starter{"sealed": p.inContainer(docker, image), "node": p.comparison} {
			took, err := untilInitialized(ctx, start)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			times[name] = append(times[name], took)
		}
		begin := time.Now()
		if err := exec.CommandContext(ctx, docker, p.sealed(image, "version")...).Run(); err != nil {
			return err
		}
		times["version"] = append(times["version"], time.Since(begin))
	}
	a, b := median(times["sealed"]), median(times["node"])
	fmt.Fprintf(w, "%-46s %12s %12s %10s  at most 1.2: %s\n", fmt.Sprintf("sealed start to initialize answer (of %d)", starts),
		ms(a), ms(b), fmt.Sprintf("%.2f", float64(a)/float64(b)), verdict(float64(a) <= 1.2*float64(b)))
	fmt.Fprintf(w, "%-46s %12s\n", "  a container that prints its version, whole", ms(median(times["version"])))
	return nil
}

func notMeasured(w io.Writer, why string) error {
	_, err := fmt.Fprintf(w, "%-46s not measured: %s\n", "sealed start to initialize answer", why)
	return err
}

// inContainer returns a starter of the product in a sealed container.
func (p *place) inContainer(docker, image string) starter {
	return func(ctx context.Context) (*client, error) {
		return startClient(ctx, []string{"HOME=" + p.directory, "PATH=/usr/bin:/bin"}, docker, p.sealed(image, "mcp")...)
	}
}
