// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrShared says that others can write a file that is to be mapped.
var ErrShared = errors.New("others can write the file while it is used")

// Map returns the content of a regular file, whose pages the system reads when they are looked at and forgets when it wants their
// memory. They stay as long as the process runs: nobody may alter the file meanwhile, and one that others than its owner can write
// is [ErrShared]. Where the system cannot map it, the file is read.
func Map(path string) (data []byte, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	if strings.Contains(Shared(info), "write") {
		return nil, fmt.Errorf("%s: %w", path, ErrShared)
	}
	if info.Size() > math.MaxInt {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrRefused, path, info.Size())
	}
	if data, err = mapped(f, int(info.Size())); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
