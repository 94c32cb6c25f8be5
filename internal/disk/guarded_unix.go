// SPDX-License-Identifier: Apache-2.0

//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// Guarded reports whether a file can hold a secret: nobody but its owner may read or
// write it. One that belongs to somebody else, who gave it to this process, is read as a
// member of its group: so Kubernetes mounts secrets.
func Guarded(info fs.FileInfo) bool {
	allowed := fs.FileMode(0o700)
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		allowed = 0o740
	}
	return info.Mode().Perm()&^allowed == 0
}
