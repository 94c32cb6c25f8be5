// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
)

// A draft without rows is right more often than equal noise, and no more often than the allocation that is drafted with
// all of its rounds, and the same at any number of workers.
func TestDraftOfEnergy(t *testing.T) {
	m, d, labels, _ := blocks(t, 400, 4, laplacian.Combinatorial, 1)
	opts := Options{Noise: noise}
	draft := func(d Diffusion, opts Options) (Sketch, error) {
		p, sensors := unread(t, m, d, labels, Energy, opts)
		return p.draft(d, sensors)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rough := must.Get(draft(d, opts))(t)
	runtime.GOMAXPROCS(3)
	again, err := draft(d, opts)
	if err != nil || again.Accuracy != rough.Accuracy || again.Loss != rough.Loss {
		t.Errorf("three workers: %v, %v, one: %v, %v; %v", again.Accuracy, again.Loss, rough.Accuracy, rough.Loss, err)
	}
	equal := must.Get(Equal(t.Context(), m, d, labels, opts))(t)
	best := must.Get(optimizeAs(t, m, d, labels, Energy, opts))(t)
	p, sensors := unread(t, m, d, labels, Energy, opts)
	scale := make([]float64, len(sensors))
	for s, u := range best.Weights {
		scale[s] = math.Sqrt(u) / noise
	}
	full := p.simulate(d, sensors, scale)
	if !(rough.Accuracy > equal.Accuracy+.03) || !(full.Accuracy > rough.Accuracy-.03) || rough.Sensitivity != equal.Sensitivity {
		t.Errorf("draft %v, equal noise %v, allocated %v; sensitivity %v, %v", rough.Accuracy, equal.Accuracy, full.Accuracy,
			rough.Sensitivity, equal.Sensitivity)
	}
	few := opts
	few.MaxSensors = 3
	if s, err := draft(d, few); err != nil || !(s.Accuracy < rough.Accuracy) {
		t.Errorf("three sensors are right in %v, all %v; %v", s.Accuracy, rough.Accuracy, err)
	}
	if _, err := draft(silent{d}, opts); !errors.Is(err, ErrNothing) {
		t.Errorf("sensors that read nothing: %v", err)
	}
}

// silent is an operator whose products are 0.
type silent struct{ Diffusion }

func (s silent) MulVecTo(dst []float64, _ bool, _ []float64) { clear(dst) }
