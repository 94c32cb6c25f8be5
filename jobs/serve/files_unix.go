// SPDX-License-Identifier: Apache-2.0

//go:build unix

package serve

import (
	"math"
	"syscall"
)

// openFiles is how many files and connections this process may have open.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur)
}
