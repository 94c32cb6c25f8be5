// SPDX-License-Identifier: Apache-2.0

//go:build !unix || solaris || aix

package disk

import (
	"io"
	"os"
	"unsafe"
)

// mapped reads the file, into memory that numbers can lie in.
func mapped(f *os.File, size int) ([]byte, error) {
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8+1)))), size)
	_, err := io.ReadFull(f, data)
	return data, err
}
