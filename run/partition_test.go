// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
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
	job := testkit.PaperJob()
	job.Communities = community.Options{Detector: d}
	m := must.Get(graphcloak.Load(t.Context(), store, job.Settings, graphcloak.LoadOptions{}))(t)
	return m, job
}

// waiting is a calibration that waits for the search to begin, and then lets it go on.
type waiting struct {
	privacy.Analytic
	t      *testing.T
	search held
	once   *sync.Once
}

func (c waiting) Sigma(b privacy.Budget, l2 float64) (float64, error) {
	c.once.Do(func() {
		select {
		case <-c.search.begun:
		case <-time.After(time.Minute):
			c.t.Error("no search that begins before the noise is calibrated")
		}
		close(c.search.let)
	})
	return c.Analytic.Sigma(b, l2)
}

// A run, and a plan that asks for communities, have them detected once, beside the rest.
func TestCommunitiesAreDetectedBeside(t *testing.T) {
	for name, do := range map[string]func(m *graphcloak.Model, job graphcloak.Job) error{
		"a run of uniform noise": func(m *graphcloak.Model, job graphcloak.Job) error {
			_, err := m.Run(t.Context(), job)
			return err
		},
		"a plan of allocated noise": func(m *graphcloak.Model, job graphcloak.Job) error {
			job.Plan.Allocation.Uniform = false
			_, err := m.Plan(t.Context(), job.Plan)
			return err
		},
	} {
		d := newHeld()
		m, job := searching(t, d)
		job.Plan.Calibration = waiting{t: t, search: d, once: new(sync.Once)}
		if err := do(m, job); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(d.begun) != 0 || len(d.ended) != 1 {
			t.Errorf("%s: %d more searches began, %d ended", name, len(d.begun), len(d.ended))
		}
	}
}

// A plan of uniform noise asks for no communities, and has none detected: one that was begun would have ended with it.
func TestUniformPlanDetectsNothing(t *testing.T) {
	d := newHeld()
	m, job := searching(t, d)
	must.Get(m.Plan(t.Context(), job.Plan))(t)
	if len(d.begun) != 0 {
		t.Error("a search began")
	}
}

// A search ends with the plan that it was begun for, and the next plan has its own.
func TestSearchBrokenOffIsMadeAgain(t *testing.T) {
	d := newHeld()
	m, job := searching(t, d)
	job.Plan.Allocation.Uniform = false
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-d.begun
		stop()
	}()
	if _, err := m.Plan(ctx, job.Plan); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that it is broken off", err)
	}
	if len(d.ended) != 1 {
		t.Error("the plan has returned, and the search goes on")
	}
	close(d.let)
	must.Get(m.Plan(t.Context(), job.Plan))(t)
	if p, err := m.Partition(t.Context()); err != nil || p.Count == 0 || len(d.ended) != 2 {
		t.Errorf("%d communities, %v, after %d searches", p.Count, err, len(d.ended))
	}
}

// faulty is a detector that panics.
type faulty struct{ begun chan struct{} }

func (d faulty) Detect(context.Context, *graph.Graph) (community.Partition, error) {
	close(d.begun)
	panic("a fault of the detector")
}

// A run that fails by itself says so, whatever became of the search that it had begun.
func TestFaultOfDetectorHidesNoError(t *testing.T) {
	d := faulty{make(chan struct{})}
	m, job := searching(t, d)
	job.Plan.Budget.Epsilon = -1
	if _, err := m.Run(t.Context(), job); !errors.Is(err, privacy.ErrInput) {
		t.Errorf("%v, want ErrInput", err)
	}
	<-d.begun
}

// A recovery or a run that fails leaves no search behind.
func TestFailureLeavesNoSearch(t *testing.T) {
	for name, do := range map[string]func(m *graphcloak.Model, job graphcloak.Job) error{
		"recovery": func(m *graphcloak.Model, _ graphcloak.Job) error {
			in := analyst.Measurements{Nodes: []int{2, 1}, Values: []float64{0, 0}, Sigmas: []float64{1, 1}}
			_, err := m.RecoverFrom(t.Context(), in, analyst.Options{})
			return err
		},
		"run": func(m *graphcloak.Model, job graphcloak.Job) error {
			job.Plan.Budget.Epsilon = -1
			_, err := m.Run(t.Context(), job)
			return err
		},
	} {
		d := newHeld()
		m, job := searching(t, d)
		if err := do(m, job); err == nil || len(d.begun) != len(d.ended) || len(d.ended) != 1 {
			t.Errorf("%s: %v; %d searches began, %d ended", name, err, len(d.begun), len(d.ended))
		}
	}
}
