// SPDX-License-Identifier: Apache-2.0

package jobs

import "context"

// A Fence is the right to write for a tick. A store checks the fence of a context inside
// every transaction that decides: one that reserves, spends, begins or ends a write, or
// takes something back. So a process that lost its tick while it slept writes and spends
// nothing.
type Fence struct {
	Tick
	Token string
	// GivingUp lets the holder of a tick whose end was asked for take back what it left.
	GivingUp bool
}

type fenceKey struct{}

// Within returns a context whose writes are those of the tick.
func (f Fence) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, fenceKey{}, f)
}

// FenceOf returns the fence of a context; false where it has none.
func FenceOf(ctx context.Context) (Fence, bool) {
	f, ok := ctx.Value(fenceKey{}).(Fence)
	return f, ok
}

// Check decides from the job's latest record, which the store has locked. [ErrLost]: the
// tick is somebody else's, or has ended. [ErrCanceled]: somebody asked for its end.
func (f Fence) Check(latest Claim) error {
	if err := latest.Owned(f.Tick, f.Token); err != nil {
		return err
	}
	if latest.CancelRequested && !f.GivingUp {
		return ErrCanceled
	}
	return nil
}
