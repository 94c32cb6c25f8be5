// SPDX-License-Identifier: Apache-2.0

package graphcloak_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/testkit"
)

// held is a detector that tells of each search that begins and ends, and goes on until it is let.
type held struct{ begun, let, ended chan struct{} }

func newHeld() held {
	return held{make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)}
}

func (d held) Detect(ctx context.Context, g *graph.Graph) (community.Partition, error) {
	d.begun <- struct{}{}
	defer func() { d.ended <- struct{}{} }()
	select {
	case <-d.let:
		return community.Leiden{}.Detect(ctx, g)
	case <-ctx.Done():
		return community.Partition{}, ctx.Err()
	}
}

// searching is a model of the karate club whose communities are detected.
func searching(t *testing.T, d community.Detector) (*graphcloak.Model, graphcloak.Job) {
	t.Helper()
	store, _ := testkit.Example(t, "karate")
	job := paperJob()
	job.Communities = community.Options{Detector: d}
	m, err := graphcloak.Load(t.Context(), store, job.Settings, graphcloak.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m, job
}

// within waits for a search, however slow the machine.
func within(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("no search that %s", what)
	}
}

// A plan of uniform noise does not wait for the communities that it begins to search for; a second one
// begins no second search, and who asks gets what that finds.
func TestPlanDoesNotWaitForCommunities(t *testing.T) {
	d := newHeld()
	m, job := searching(t, d)
	for range 2 {
		if _, err := m.Plan(t.Context(), job.Plan); err != nil {
			t.Fatal(err)
		}
	}
	within(t, d.begun, "begins with the plan")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Partition(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("asked for within a context that has ended: %v", err)
	}
	close(d.let)
	want, err := community.Leiden{}.Detect(t.Context(), m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := m.Partition(t.Context()); err != nil || p.Count != want.Count {
		t.Errorf("%d communities, %v; want %d", p.Count, err, want.Count)
	}
	if len(d.begun) != 0 || len(d.ended) != 1 {
		t.Errorf("%d more searches began, %d ended", len(d.begun), len(d.ended))
	}
}

// A search that ended with the context of the plan is made again by who asks in another one.
func TestSearchBrokenOffIsMadeAgain(t *testing.T) {
	d := newHeld()
	m, job := searching(t, d)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := m.Plan(ctx, job.Plan); err != nil {
		t.Fatal(err)
	}
	within(t, d.begun, "begins with the plan")
	stop()
	within(t, d.ended, "ends with its context")
	close(d.let)
	if p, err := m.Partition(t.Context()); err != nil || p.Count == 0 {
		t.Errorf("%d communities, %v", p.Count, err)
	}
}

// A search that nobody is left to ask for is broken off.
func TestSearchEndsWithItsModel(t *testing.T) {
	d := newHeld()
	func() {
		m, job := searching(t, d)
		if _, err := m.Plan(t.Context(), job.Plan); err != nil {
			t.Fatal(err)
		}
	}()
	within(t, d.begun, "begins with the plan")
	for range 100 {
		runtime.GC()
		select {
		case <-d.ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the search goes on")
}

// A recovery that fails leaves no search behind.
func TestRecoveryThatFailsLeavesNoSearch(t *testing.T) {
	d := newHeld()
	m, _ := searching(t, d)
	in := analyst.Measurements{Nodes: []int{2, 1}, Values: []float64{0, 0}, Sigmas: []float64{1, 1}}
	if _, err := m.RecoverFrom(t.Context(), in, analyst.Options{}); err == nil {
		t.Fatal("measurements out of order were taken")
	}
	if len(d.begun) != len(d.ended) || len(d.ended) != 1 {
		t.Errorf("%d searches began, %d ended", len(d.begun), len(d.ended))
	}
}
