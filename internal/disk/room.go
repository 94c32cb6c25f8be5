// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"os"
)

// Room makes sure that a file of size bytes can be created in a folder and synced, by
// creating one and removing it.
func Room(dir string, size int64) error {
	f, err := os.CreateTemp(dir, ".graphcloak-room-*")
	if err != nil {
		return about("write to", dir, err)
	}
	block := make([]byte, min(size, 1<<20))
	for left := size; left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block[:min(left, int64(len(block)))])
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("make sure of %d bytes in %s: %w", size, dir, err)
	}
	return nil
}
