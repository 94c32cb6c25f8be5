// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Search is a detection that goes on beside other work: a detector walks from node to node and
// keeps one processor busy.
type Search struct {
	found Partition
	err   error
	net   parallel.Net
	done  chan struct{}
	stop  context.CancelFunc
}

// Beside begins a detection, which ends by itself, with ctx, or by [Search.Stop].
func Beside(ctx context.Context, d Detector, g *graph.Graph) *Search {
	ctx, stop := context.WithCancel(ctx)
	s := &Search{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(s.done)
		defer stop()
		defer s.net.Catch()
		s.found, s.err = d.Detect(ctx, g)
	}()
	return s
}

// Wait returns what [Detector.Detect] does, once it has ended, and panics where that did; or the
// error of ctx, where that ends sooner. It may be called again.
func (s *Search) Wait(ctx context.Context) (Partition, error) {
	select {
	case <-s.done:
	case <-ctx.Done():
		return Partition{}, ctx.Err()
	}
	s.net.Raise()
	return s.found, s.err
}

// Stop has the detector break off and waits until it has returned. How that ended, a panic
// included, is returned by [Search.Wait] alone.
func (s *Search) Stop() {
	s.stop()
	<-s.done
}
