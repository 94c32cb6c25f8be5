// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"github.com/graphcloak/graphcloak/connector"
)

// coldTime is how long a server that does not answer is tried again: Neo4j takes about half of it to start. Tests have none.
var coldTime = 30 * time.Second

// whenWarm opens a store, and tries again where its server does not answer yet.
func (a *app) whenWarm(ctx context.Context, open func() (graphStore, error)) (graphStore, error) {
	begun := time.Now()
	for {
		s, err := open()
		waited := time.Since(begun)
		if !errors.Is(err, connector.ErrTransient) || ctx.Err() != nil || waited >= coldTime {
			return s, err
		}
		if waited < time.Second {
			a.note("Note: the server does not answer; it may be starting, and is tried for %v", coldTime)
		}
		a.progress("wait for the server", int64(waited/time.Second), int64(coldTime/time.Second))
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}
