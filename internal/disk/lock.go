// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"os"
)

// ErrLocked says that another process, or another holder in this one, has the lock.
var ErrLocked = errors.New("it is in use by another process")

// Lock makes a file if need be and locks it, without waiting, until the file is
// closed or its process ends, however it ends.
func Lock(path string) (*os.File, error) {
	return locked(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))
}

// LockIn is [Lock] for a file of a folder; no link leads out of the folder.
func LockIn(root *os.Root, name string) (*os.File, error) {
	return locked(root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600))
}

func locked(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		if errors.Is(err, held) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
