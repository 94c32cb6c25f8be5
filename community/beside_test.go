// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/internal/testgraph"
)

type detectorFunc func(ctx context.Context, g *graph.Graph) (community.Partition, error)

func (f detectorFunc) Detect(ctx context.Context, g *graph.Graph) (community.Partition, error) {
	return f(ctx, g)
}

// A detection beside other work finds what one by itself does, every time that it is waited
// for; its errors and panics reach who waits.
func TestBeside(t *testing.T) {
	g := testgraph.Grid(20, 20).Graph
	want, err := community.Leiden{}.Detect(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	wait := community.Beside(t.Context(), community.Leiden{}, g)
	for range 2 {
		if got, err := wait(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	wait = community.Beside(ctx, detectorFunc(func(ctx context.Context, _ *graph.Graph) (community.Partition, error) {
		<-ctx.Done()
		return community.Partition{}, ctx.Err()
	}), g)
	stop()
	if _, err := wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	wait = community.Beside(t.Context(), detectorFunc(func(context.Context, *graph.Graph) (community.Partition, error) { panic("inside") }), g)
	defer func() {
		if p, ok := recover().(*parallel.Panic); !ok || p.Value != "inside" {
			t.Errorf("fault %v", p)
		}
	}()
	_, _ = wait()
}
