// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Room makes sure that a file of size bytes can be created in a folder and synced, by
// creating one and removing it.
func Room(dir string, size int64) error {
	f, err := os.CreateTemp(dir, ".graphcloak-room-*")
	if err != nil {
		return about("write to", dir, err)
	}
	if err = fill(f, size); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("make sure of %d bytes in %s: %w", size, dir, err)
	}
	return nil
}

// Hold keeps room on disk for what will be written later, by a file of size zeros that only its owner may read.
// It takes the place of one that is there.
func Hold(path string, size int64) error {
	return Write(path, Options{Mode: 0o600, Replace: true}, func(w io.Writer) error { return fill(w.(*os.File), size) })
}

// fill makes an empty file one of size zeros for which there is room on disk.
func fill(f *os.File, size int64) error {
	if size <= 0 {
		return nil
	}
	if done, err := reserve(f, size); done || err != nil {
		return err
	}
	return writeZeros(f, size)
}

func writeZeros(w io.Writer, size int64) error {
	block := make([]byte, min(size, 1<<20))
	for left := size; left > 0; left -= int64(len(block)) {
		if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}
