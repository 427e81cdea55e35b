package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"external-context.internal/appliance/testing/need"
	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// TestAProviderInAContainerIsReachedThroughItsNamespaceAlone runs the reference
// provider in a container without any network. The product's container joins its
// network namespace, so the provider's loopback is all there is to reach.
func TestAProviderInAContainerIsReachedThroughItsNamespaceAlone(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true") // its image cannot be pulled everywhere; the test cleans up itself
	provider, err := testcontainers.GenericContainer(t.Context(), testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			FromDockerfile: testcontainers.FromDockerfile{Context: providerContext(t, p.dir)},
			Env:            map[string]string{"CONTEXT_API_TOKEN": p.token},
			HostConfigModifier: func(host *container.HostConfig) {
				host.NetworkMode = "none"
			},
			WaitingFor: wait.ForLog("127.0.0.1:8080"),
		},
		Started: true,
	})
	testcontainers.CleanupContainer(t, provider)
	if err != nil {
		t.Fatal(err)
	}
	p.network = "container:" + provider.GetContainerID()
	p.write("provider.json", `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"http://127.0.0.1:8080","tokenEnv":"TOKEN"}}`)
	if got := p.start().search("How do I roll back a bad deploy?"); !strings.Contains(got, "deploy.md#rolling-back") {
		t.Errorf("got %s", got)
	}
	if got := p.end([]string{"--env=HTTPS_PROXY="}, "probe", "x"); got.code != 0 {
		t.Errorf("probe: %+v", got)
	}
	p.write("provider.json", `{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"https://context.example.com","tokenEnv":"TOKEN"}}`)
	if got := p.end(nil, "probe", "x"); got.code != 1 || strings.Contains(got.stdout, "outcome:      ok") {
		t.Errorf("something beyond the namespace was reached: %+v", got)
	}
}

// providerContext is what an image of the reference provider is built from.
func providerContext(t *testing.T, dir string) string {
	t.Helper()
	root := need.Root(t)
	build := filepath.Join(dir, "image")
	if err := os.CopyFS(filepath.Join(build, "sample"), os.DirFS(filepath.Join(root, "testing", "sample"))); err != nil {
		t.Fatal(err)
	}
	if err := need.GoBuild(root, "testing/cmd/refprovider", filepath.Join(build, "refprovider")); err != nil {
		t.Fatal(err)
	}
	dockerfile := "FROM scratch\nCOPY refprovider /refprovider\nCOPY sample /sample\nENTRYPOINT [\"/refprovider\", \"-listen\", \"127.0.0.1:8080\", \"/sample\"]\n"
	if err := os.WriteFile(filepath.Join(build, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		t.Fatal(err)
	}
	return build
}
