// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"errors"
	"fmt"

	"github.com/graphcloak/graphcloak/internal/memory"
)

// ErrMemory says that a step would need more memory than there is.
var ErrMemory = errors.New("graphcloak: not enough memory")

// guard refuses a step whose estimate exceeds the limit.
func (o LoadOptions) guard(what string, bytes int64) error {
	limit := o.MemoryLimit
	if limit == 0 {
		limit = memory.Available()
	}
	if o.IgnoreMemory || bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s needs about %s, %s are available", ErrMemory, what, Bytes(bytes), Bytes(limit))
}

// Bytes writes a size with a binary unit.
func Bytes(n int64) string {
	x, unit := float64(n), 0
	for x >= 1024 && unit < 4 {
		x, unit = x/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}
