// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !aix

package disk

import (
	"os"
	"syscall"
)

func mapped(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}
