// Command ociwriter writes OCI image layouts. It is what the stand-in for rules_oci
// in testing/airgap/rules_oci runs, where the real one cannot be had; nothing else
// uses it. It owns no decision about the image: all of them are in its arguments,
// and the same arguments give the same bytes.
//
//	ociwriter image OUT ARCHITECTURE OS USER ENTRYPOINT LABELS LAYER...
//	ociwriter index OUT LAYOUT...
//	ociwriter tarball OUT LAYOUT TAG
//	ociwriter digest OUT LAYOUT
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

var errUsage = errors.New("wrong arguments")

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "ociwriter: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return errUsage
	}
	command, out, rest := args[0], args[1], args[2:]
	switch {
	case command == "image" && len(rest) >= 6:
		return writeImage(out, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5:])
	case command == "index":
		return writeIndex(out, rest)
	case command == "tarball" && len(rest) == 2:
		return writeTarball(out, rest[0], rest[1])
	case command == "digest" && len(rest) == 1:
		return writeDigest(out, rest[0])
	}
	return errUsage
}

// writeImage writes an image from nothing as a layout with one manifest.
func writeImage(out, architecture, system, user, entrypoint, labelsFile string, layers []string) error {
	labels, err := readLabels(labelsFile)
	if err != nil {
		return err
	}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: architecture,
		OS:           system,
		Config:       v1.Config{User: user, Entrypoint: []string{entrypoint}, Labels: labels},
		RootFS:       v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return err
	}
	for _, path := range layers {
		layer, err := tarball.LayerFromFile(path, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return err
		}
	}
	at, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	return at.AppendImage(image, layout.WithPlatform(v1.Platform{Architecture: architecture, OS: system}))
}

// readLabels reads NAME=VALUE lines.
func readLabels(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	labels := map[string]string{}
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		label, value, ok := strings.Cut(scanner.Text(), "=")
		if !ok {
			return nil, errUsage
		}
		labels[label] = value
	}
	return labels, scanner.Err()
}

// only returns the one image of a layout and its descriptor.
func only(path string) (v1.Image, v1.Descriptor, error) {
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		return nil, v1.Descriptor{}, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, v1.Descriptor{}, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, v1.Descriptor{}, errUsage
	}
	descriptor := manifest.Manifests[0]
	image, err := index.Image(descriptor.Digest)
	return image, descriptor, err
}

// writeIndex writes a layout with one index of the images of the layouts.
func writeIndex(out string, layouts []string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, path := range layouts {
		image, descriptor, err := only(path)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: descriptor.Platform}})
	}
	at, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	return at.AppendIndex(index)
}

// writeTarball writes the image of a layout as what `docker load` takes.
func writeTarball(out, path, tag string) error {
	image, _, err := only(path)
	if err != nil {
		return err
	}
	reference, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(out, reference, image)
}

// writeDigest writes the digest of what a layout holds.
func writeDigest(out, path string) error {
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		return errors.Join(err, errUsage)
	}
	return os.WriteFile(out, []byte(manifest.Manifests[0].Digest.String()), 0o644)
}
