// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/laplacian"
)

// A draft without rows tells what equal noise does not, no more than the allocation that is drafted with
// all of its rounds, and the same at any number of workers.
func TestDraftOfEnergy(t *testing.T) {
	m, d, labels, _ := blocks(t, 400, 4, laplacian.Combinatorial, 1)
	opts := Options{Objective: Energy, Noise: testNoise}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	draft, err := Draft(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(3)
	again, err := Draft(t.Context(), m, d, labels, opts)
	if err != nil || again.Accuracy != draft.Accuracy || again.Loss != draft.Loss {
		t.Errorf("three workers: %v, %v, one: %v, %v; %v", again.Accuracy, again.Loss, draft.Accuracy, draft.Loss, err)
	}
	equal, err := new(Comparison).Equal(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	best, err := Optimize(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	p, sensors, err := newUnread(t.Context(), m, d, labels, opts)
	if err != nil {
		t.Fatal(err)
	}
	scale := make([]float64, len(sensors))
	for s, u := range best.Weights {
		scale[s] = math.Sqrt(u) / testNoise
	}
	full := p.simulate(d, sensors, scale)
	if !(draft.Accuracy > equal.Accuracy+.03) || !(full.Accuracy > draft.Accuracy-.03) || draft.Sensitivity != equal.Sensitivity {
		t.Errorf("draft %v, equal noise %v, allocated %v; sensitivity %v, %v", draft.Accuracy, equal.Accuracy, full.Accuracy,
			draft.Sensitivity, equal.Sensitivity)
	}
	few := opts
	few.MaxSensors = 3
	if s, err := Draft(t.Context(), m, d, labels, few); err != nil || !(s.Accuracy < draft.Accuracy) {
		t.Errorf("three sensors tell %v, all %v; %v", s.Accuracy, draft.Accuracy, err)
	}
	if _, err := Draft(t.Context(), m, silent{d}, labels, opts); !errors.Is(err, ErrNothing) {
		t.Errorf("sensors that read nothing: %v", err)
	}
}

// silent is an operator whose products are 0.
type silent struct{ Diffusion }

func (s silent) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }
