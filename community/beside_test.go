// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/internal/testgraph"
)

type detectorFunc func(ctx context.Context, g *graph.Graph) (community.Partition, error)

func (f detectorFunc) Detect(ctx context.Context, g *graph.Graph) (community.Partition, error) {
	return f(ctx, g)
}

// untilBroken searches until it is broken off.
func untilBroken(ctx context.Context, _ *graph.Graph) (community.Partition, error) {
	<-ctx.Done()
	return community.Partition{}, ctx.Err()
}

// A detection beside other work finds what one by itself does, every time that it is waited
// for; its errors and panics reach who waits. Who waits no longer than a context does not break it off.
func TestBeside(t *testing.T) {
	g := testgraph.Grid(20, 20).Graph
	want := must.Get(community.Leiden{}.Detect(t.Context(), g))(t)
	s := community.Beside(t.Context(), community.Leiden{}, g)
	for range 2 {
		if got, err := s.Wait(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	s = community.Beside(ctx, detectorFunc(untilBroken), g)
	stop()
	if _, err := s.Wait(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off by its context: %v", err)
	}
	broken := errors.New("broken off")
	s = community.Beside(t.Context(), detectorFunc(func(ctx context.Context, g *graph.Graph) (community.Partition, error) {
		_, _ = untilBroken(ctx, g)
		return community.Partition{}, broken
	}), g)
	if _, err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waited for within a context that has ended: %v", err)
	}
	s.Stop()
	if _, err := s.Wait(t.Context()); !errors.Is(err, broken) {
		t.Errorf("stopped: %v, want the detector's own error", err)
	}
	s = community.Beside(t.Context(), detectorFunc(func(context.Context, *graph.Graph) (community.Partition, error) { panic("inside") }), g)
	defer func() {
		if p, ok := recover().(*parallel.Panic); !ok || p.Value != "inside" {
			t.Errorf("fault %v", p)
		}
	}()
	_, _ = s.Wait(t.Context())
}
