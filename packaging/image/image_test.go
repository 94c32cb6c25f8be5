// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// program builds the command as a release does.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graphcloak")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, "./cmd/graphcloak")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// unpack writes the files of a tar file below a folder.
func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = root.MkdirAll(strings.TrimSuffix(h.Name, "/"), 0o755)
		} else {
			err = root.MkdirAll(filepath.Dir(h.Name), 0o755)
			if err == nil {
				var data []byte
				if data, err = io.ReadAll(archive); err == nil {
					err = root.WriteFile(h.Name, data, os.FileMode(h.Mode))
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// read opens an image that was written, and checks every digest and the layer's tar.
func read(t *testing.T, path string) v1.Image {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, bytes.NewReader(data), dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%+v, %v", manifest, err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestImage builds an image twice, reads it back and runs it: as a user without a name
// on this machine, without capabilities, network and terminal, with a root that takes
// no writes and a state that is forgotten.
func TestImage(t *testing.T) {
	s := spec{binary: program(t), version: "v0.0.1", created: 1}
	first, second := filepath.Join(t.TempDir(), "1.tar"), filepath.Join(t.TempDir(), "2.tar")
	for _, path := range []string{first, second} {
		if _, err := s.write(path); err != nil {
			t.Fatal(err)
		}
	}
	one, err := os.ReadFile(first)
	two, err2 := os.ReadFile(second)
	if err := errors.Join(err, err2); err != nil || !bytes.Equal(one, two) {
		t.Errorf("the same binary gives %d and %d other bytes, %v", len(one), len(two), err)
	}
	img := read(t, first)
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.OS != "linux" || len(config.Config.Entrypoint) != 1 {
		t.Errorf("%+v", config)
	}
	root := t.TempDir()
	files := mutate.Extract(img)
	defer files.Close()
	unpack(t, files, root)
	pem, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || bytes.Count(pem, []byte("BEGIN CERTIFICATE")) < 50 {
		t.Errorf("%d bytes of certificates, %v", len(pem), err)
	}
	run := []string{
		"run", "--from", "example:karate", "--source-property", "source", "--mode", "stats",
	}
	inside(t, root, config.Config, 0, "--tmpfs /state", run...)
	inside(t, root, config.Config, 6, "", run...) // nowhere to keep what must outlast a crash: nothing is spent
	inside(t, root, config.Config, 0, "", "version")
}

// inside runs the entry point of an image in a sandbox and wants an exit code.
func inside(t *testing.T, root string, config v1.Config, want int, more string, args ...string) {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal("the image is run by bwrap: install the package bubblewrap")
	}
	id := strings.Split(config.User, ":")
	sandbox := []string{
		"--unshare-all", "--uid", id[0], "--gid", id[1], "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv",
		"--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev",
	}
	for _, pair := range config.Env {
		name, value, _ := strings.Cut(pair, "=")
		sandbox = append(sandbox, "--setenv", name, value)
	}
	sandbox = append(sandbox, strings.Fields(more)...)
	cmd := exec.Command(bwrap, append(append(sandbox, config.Entrypoint...), args...)...)
	out, _ := cmd.CombinedOutput() // the exit code is compared
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%q: exit %d, want %d:\n%s", args, got, want, out)
	}
}

// TestRefusedBinaries: the image has no loader and one kind of system.
func TestRefusedBinaries(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{script, "/bin/sh", filepath.Join(dir, "none")} {
		if _, err := (spec{binary: path}).write(filepath.Join(dir, "x.tar")); err == nil {
			t.Errorf("%s was packed", path)
		}
	}
}
