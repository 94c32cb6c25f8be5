// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image puts layer and configuration together.
func (s spec) image() (v1.Image, string, error) {
	arch, err := architecture(s.binary)
	if err != nil {
		return nil, "", err
	}
	data, err := s.layer()
	if err != nil {
		return nil, "", err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, "", err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base,
		mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer,
			History: v1.History{CreatedBy: "packaging/image", Created: v1.Time{Time: s.time()}},
		})
	if err != nil {
		return nil, "", err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, "", err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: s.time()}
	file.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/usr/bin/graphcloak"}, WorkingDir: "/",
		Env: []string{"PATH=/usr/bin", "XDG_STATE_HOME=/state"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "graphcloak", "org.opencontainers.image.version": s.version,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source":   "https://github.com/graphcloak/graphcloak",
		},
	}
	img, err = mutate.ConfigFile(img, file)
	return img, arch, err
}

// write makes the image and returns the digest of its manifest.
func (s spec) write(path string) (string, error) {
	img, arch, err := s.image()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "graphcloak-image-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", err
	}
	err = l.AppendImage(img, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": s.version}))
	if err != nil {
		return "", err
	}
	files := make(map[string][]byte)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		return "", err
	}
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := pack(out, files, slices.Sorted(maps.Keys(files)), s); err != nil {
		out.Close()
		return "", err
	}
	digest, err := img.Digest()
	if err != nil {
		out.Close()
		return "", err
	}
	return digest.String(), out.Close()
}
