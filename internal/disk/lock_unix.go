// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !aix

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// held is the error for a lock that another holder has.
const held = unix.EWOULDBLOCK

func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
