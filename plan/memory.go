// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/graphcloak/graphcloak/internal/memory"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/laplacian/response"
)

// ErrMemory says that a step would need more memory than there is.
var ErrMemory = errors.New("graphcloak: not enough memory")

// LoadOptions steer [Load]; the zero value is the default.
type LoadOptions struct {
	// Progress may be called by several goroutines at once, and beside a progress of the detector of communities.
	Progress func(stage string, done, total int64) // total is 0 where it is unknown; nil: silent
	// MemoryLimit in bytes; 0: what this machine has left. A model that needs more
	// is refused with [ErrMemory] before it is made.
	MemoryLimit int64
	// Operators begins and fills the operators of [Settings].Operators, in their order.
	Operators func(ctx context.Context, b *response.Builder) error
	// IgnoreMemory goes past the limit.
	IgnoreMemory bool
}

// guard refuses a step whose estimate exceeds the limit.
func (o LoadOptions) guard(what string, bytes int64) error {
	limit := o.MemoryLimit
	if limit == 0 {
		limit = memory.Available()
		if bytes > limit && !o.IgnoreMemory { // of what is left, some is not in use any more
			linop.DropBlocks()
			debug.FreeOSMemory()
			limit = memory.Available()
		}
	}
	if o.IgnoreMemory || bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s needs about %s, %s are available", ErrMemory, what, memory.Format(bytes), memory.Format(limit))
}
