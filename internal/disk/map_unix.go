// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !aix

package disk

import (
	"errors"
	"os"
	"syscall"
)

func mapped(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

// scratch maps a new file of this size, which loses its name first.
func scratch(f *os.File, size int) (memory []byte, err error) {
	if err = os.Remove(f.Name()); err == nil {
		err = fill(f, int64(size))
	}
	if err == nil {
		memory, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	return memory, errors.Join(err, f.Close())
}

func unmap(memory []byte) error { return syscall.Munmap(memory) }
