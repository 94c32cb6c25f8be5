// SPDX-License-Identifier: Apache-2.0

//go:build !unix || solaris || aix

package disk

import (
	"errors"
	"io"
	"os"
	"unsafe"
)

// mapped reads the file, into memory that numbers can lie in.
func mapped(f *os.File, size int) ([]byte, error) {
	data := aligned(size)
	_, err := io.ReadFull(f, data)
	return data, err
}

func aligned(size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8+1)))), size)
}

func scratch(f *os.File, size int) ([]byte, error) {
	return aligned(size), errors.Join(f.Close(), os.Remove(f.Name()))
}

func unmap([]byte) error { return nil }
