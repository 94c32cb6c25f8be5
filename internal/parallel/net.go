// SPDX-License-Identifier: Apache-2.0

package parallel

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Panic is what a goroutine panicked with that worked for another, which panics with it in its turn.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked first
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v, in a worker:\n%s", p.Value, p.Stack) }

// Net catches the panics of goroutines that work together, for the one that waits for them: a panic that
// nothing recovers on its own goroutine ends the process. The zero value is ready.
type Net struct{ first atomic.Pointer[Panic] }

// Catch recovers a panic, and keeps the first. It is deferred itself by a worker.
func (n *Net) Catch() {
	fault := recover()
	if fault == nil {
		return
	}
	p, ok := fault.(*Panic)
	if !ok {
		p = &Panic{Value: fault, Stack: debug.Stack()}
	}
	n.first.CompareAndSwap(nil, p)
}

// Caught reports whether there was a panic, after which work is in vain.
func (n *Net) Caught() bool { return n.first.Load() != nil }

// Raise panics with the first *[Panic] that was caught, if any: after all workers have ended.
func (n *Net) Raise() {
	if p := n.first.Load(); p != nil {
		panic(p)
	}
}
