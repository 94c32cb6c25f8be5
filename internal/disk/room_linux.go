// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve has the file system keep room for size > 0 bytes, which it sets aside without writing them. It reports
// false where the file system cannot.
func reserve(f *os.File, size int64) (done bool, err error) {
	for {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
			return false, &os.PathError{Op: "make room in", Path: f.Name(), Err: err}
		default:
			return false, nil
		}
	}
}
