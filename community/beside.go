// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Beside begins a detection that goes on beside other work: a detector walks from node to node
// and keeps one processor busy. wait returns what [Detector.Detect] does, once it has ended,
// and panics where that did. It may be called again.
func Beside(ctx context.Context, d Detector, g *graph.Graph) (wait func() (Partition, error)) {
	var p Partition
	var err error
	var net parallel.Net
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer net.Catch()
		p, err = d.Detect(ctx, g)
	}()
	return func() (Partition, error) {
		<-done
		net.Raise()
		return p, err
	}
}
