// Package reproducible holds the image to its promise: the same commit gives the
// same bytes. It builds twice, as two people in two places would, and knows nothing
// of what the image is for.
package reproducible

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"external-context.internal/appliance/testing/need"
	"github.com/google/go-cmp/cmp"
)

// targets are what a release is made of.
var targets = []string{"//image", "//image:image.digest", "//image:linux_amd64.digest", "//image:linux_arm64.digest",
	"//image:linux_amd64_layer", "//image:linux_arm64_layer"}

// outputs are the files that are compared, below bazel-bin/image.
var outputs = []string{"image.digest", "linux_amd64.digest", "linux_arm64.digest", "linux_amd64_layer.tar", "linux_arm64_layer.tar", "labels.txt"}

// build builds in the checkout at directory as user, and returns the directory with
// the outputs.
func build(t *testing.T, directory, user string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(directory, "testing", "airgap", "bazel"), append([]string{"build"}, targets...)...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "USER="+user)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bin, err := os.Readlink(filepath.Join(directory, "bazel-bin"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(directory, ".build", "airgap", "root", bin, "image")
}

// hashes returns the SHA-256 of each output.
func hashes(t *testing.T, directory string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, name := range outputs {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		sums[name] = hex.EncodeToString(sum[:])
	}
	return sums
}

// elsewhere makes a second checkout in another place, with the same tools and no
// cache of what was built.
func elsewhere(t *testing.T, root string) string {
	t.Helper()
	second := filepath.Join(t.TempDir(), "another place")
	second = strings.ReplaceAll(second, " ", "-")
	script := `set -e
mkdir -p "$2/.build/airgap"
cd "$1"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference --target-directory="$2"
cd .build/airgap
cp --archive --link modules registry sdk *.done "$2/.build/airgap"
tar --create --one-file-system --exclude=./root/root/.cache ./root | tar --extract --directory="$2/.build/airgap"
`
	if out, err := exec.CommandContext(t.Context(), "bash", "-c", script, "elsewhere", root, second).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return second
}

func TestTwoPlacesGiveTheSameBytes(t *testing.T) {
	root := need.Airgap(t)
	first := build(t, root, "root")
	second := elsewhere(t, root)
	t.Cleanup(func() {
		_ = exec.Command(filepath.Join(second, "testing", "airgap", "bazel"), "shutdown").Run()
	})
	if diff := cmp.Diff(hashes(t, first), hashes(t, build(t, second, "somebody-else"))); diff != "" {
		t.Errorf("the second build differs: %s", diff)
	}
}

func TestTheLayerHoldsExactlyTheProgram(t *testing.T) {
	directory := build(t, need.Airgap(t), "root")
	for _, architecture := range []string{"amd64", "arm64"} {
		file, err := os.Open(filepath.Join(directory, "linux_"+architecture+"_layer.tar"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var got []string
		reader := tar.NewReader(file)
		for {
			header, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %d:%d %q:%q %s", header.Name, header.FileInfo().Mode(), header.Uid, header.Gid,
				header.Uname, header.Gname, header.ModTime.UTC().Format(time.RFC3339)))
		}
		if diff := cmp.Diff([]string{`extctx -r-xr-xr-x 0:0 "":"" 2000-01-01T00:00:00Z`}, got); diff != "" {
			t.Errorf("%s: %s", architecture, diff)
		}
	}
}
