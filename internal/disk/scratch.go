// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"fmt"
	"os"
)

// Scratch hands out memory in files of a folder that have no names: the system keeps on disk what is not looked at, and nothing is
// left when the process ends, however it ends. Where the system cannot map files, it is memory of the heap.
type Scratch struct{ Dir string }

// Get returns zeros, for which there is room on disk; more than 0 bytes.
func (s Scratch) Get(bytes int) (memory []byte, err error) {
	f, err := os.CreateTemp(s.Dir, ".graphcloak-*.tmp")
	if err != nil {
		return nil, about("write to", s.Dir, err)
	}
	memory, err = scratch(f, bytes)
	if err != nil {
		return nil, fmt.Errorf("make room for %d bytes in %s: %w", bytes, s.Dir, err)
	}
	return memory, nil
}

// Put takes back all that Get gave.
func (Scratch) Put(memory []byte) error { return unmap(memory) }
