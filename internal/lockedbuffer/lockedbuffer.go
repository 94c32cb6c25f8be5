// SPDX-License-Identifier: Apache-2.0

// Package lockedbuffer keeps what a process or a log writes while a test reads it.
package lockedbuffer

import (
	"bytes"
	"sync"
)

// Buffer may be written to and read by several goroutines. The zero value is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p and never fails.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is all that was written so far.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
