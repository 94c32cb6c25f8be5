// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"os"

	"golang.org/x/sys/windows"
)

// held is the error for a lock that another holder has.
const held = windows.ERROR_LOCK_VIOLATION

func lock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		new(windows.Overlapped))
}
