// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// stateDir returns a folder of the program's own, which exists and nobody else
// reads: graphcloak/ in $XDG_STATE_HOME, or the folder that systemd made for the
// service, or that in the user's home. A relative path is refused: what the ledger
// was seen to hold, and runs that are paid for, would depend on the working directory.
func stateDir(parts ...string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	service, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	switch {
	case base != "":
		base = filepath.Join(base, "graphcloak")
	case service != "":
		base = service
	default:
		home, err := os.UserHomeDir()
		if err != nil {
			return "", stateError(err)
		}
		base = filepath.Join(home, ".local", "state", "graphcloak")
	}
	if !filepath.IsAbs(base) {
		return "", fail(exitValidation, "the folder for what must outlast a crash is relative: %s; nothing was spent", base).
			hint("set XDG_STATE_HOME to an absolute path, or leave it out")
	}
	dir := filepath.Join(append([]string{base}, parts...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", stateError(err)
	}
	return dir, nil
}

// slug makes a file name of a graph's name: readable, and different for each.
func slug(name string) string {
	sum := sha256.Sum256([]byte(name))
	readable := make([]rune, 0, 24)
	for _, r := range name {
		if len(readable) == 24 {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			readable = append(readable, r)
		} else if len(readable) > 0 && readable[len(readable)-1] != '-' {
			readable = append(readable, '-')
		}
	}
	return string(readable) + "-" + hex.EncodeToString(sum[:4])
}

// stateError says what to do about a folder for state that cannot be used.
func stateError(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return fail(exitValidation, "the folder for what must outlast a crash cannot be used: %w; nothing was spent", err).
		hint("set XDG_STATE_HOME to a folder on a disk with room that the user may write; under systemd, " +
			"StateDirectory=graphcloak makes one")
}
