// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the id of who the program runs as; no user of a host has it.
const user = 65532

// layer returns the one layer of the image as a tar file: folders first, in a fixed
// order, with one time.
func (s spec) layer() ([]byte, error) {
	program, err := os.ReadFile(s.binary)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	add := func(name string, mode int64, owner int, content []byte) {
		h := &tar.Header{
			Name: name, Mode: mode, Uid: owner, Gid: owner, ModTime: s.time(), Size: int64(len(content)),
			Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if content == nil {
			h.Typeflag = tar.TypeDir
		}
		if err == nil {
			err = w.WriteHeader(h)
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	// three are for the runtime to mount on
	for _, dir := range []string{"dev/", "etc/", "etc/ssl/", "etc/ssl/certs/", "proc/", "sys/", "usr/", "usr/bin/"} {
		add(dir, 0o755, 0, nil)
	}
	add("state/", 0o700, user, nil)
	add("tmp/", 0o1777, 0, nil)
	add("etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\ngraphcloak:x:%d:\n", user))
	add("etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\ngraphcloak:x:%d:%d:graphcloak:/state:/sbin/nologin\n",
		user, user))
	add("etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates())
	add("usr/bin/graphcloak", 0o755, 0, program)
	if err == nil {
		err = w.Close()
	}
	return buf.Bytes(), err
}

// certificates are the roots that Mozilla's programme has in the version of go.mod, but
// for those that it trusts within limits only: a file of certificates states none.
func certificates() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
	}
	return all.Bytes()
}

// pack writes a folder of files as a tar file: names sorted, one time, no owner.
func pack(w io.Writer, files map[string][]byte, names []string, s spec) error {
	t := tar.NewWriter(w)
	for _, name := range names {
		h := &tar.Header{
			Name: name, Mode: 0o644, ModTime: s.time(), Size: int64(len(files[name])), Typeflag: tar.TypeReg,
			Format: tar.FormatPAX,
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(files[name]); err != nil {
			return err
		}
	}
	return t.Close()
}
