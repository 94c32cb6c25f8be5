// SPDX-License-Identifier: Apache-2.0

// Command image packs a static binary into a container image: an OCI layout as one tar
// file, which podman, skopeo, crane and containerd read. It asks no registry and no
// daemon. The same binary gives the same bytes.
//
//	go run ./image -binary graphcloak -o graphcloak.oci.tar
//
// The image holds the program, the certificates that the go.sum of this folder fixes,
// and a user without a name elsewhere. It runs as that user and writes nowhere but in
// /state, so that its root can be read-only.
package main

import (
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	var s spec
	var out string
	flag.StringVar(&s.binary, "binary", "", "static `FILE` of the program for Linux")
	flag.StringVar(&s.version, "version", "devel", "`VERSION`, for the labels")
	flag.Int64Var(&s.created, "created", 0, "`SECONDS` since 1970 of every time in the image")
	flag.StringVar(&out, "o", "graphcloak.oci.tar", "`FILE` to write")
	flag.Parse()
	digest, err := s.write(out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

// spec says what goes into an image.
type spec struct {
	binary, version string
	created         int64
}

func (s spec) time() time.Time { return time.Unix(s.created, 0).UTC() }

// architecture reads from a binary what it runs on, and refuses one that needs a loader:
// the image has none.
func architecture(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s is no program for Linux: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s needs a loader: build it with CGO_ENABLED=0", path)
		}
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("%s is for %v, want amd64 or arm64", path, f.Machine)
}
