// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"errors"
	"runtime"
	"testing"

	"github.com/graphcloak/graphcloak/laplacian"
)

// What is not better than equal noise beyond chance is compared a second time, and nothing else is, as the number of
// releases shows. A comparison has the same bits at any number of workers.
func TestSecondComparison(t *testing.T) {
	m, d, labels, _ := blocks(t, 200, 4, laplacian.Combinatorial, 1)
	p, sensors := unread(t, m, d, labels, Energy, Options{Noise: noise})
	equal := 1 / p.equalPeak(d, sensors)
	b := budget{trials: 1, probes: 2, again: 4}
	for _, c := range []struct {
		factor float64 // of equal weights
		ripple float64 // of every second, up, and of the others, down
		again  int
		trials int
		gain   bool
	}{
		{10, 0, 4, 16, true},
		{1.001, 0, 4, 16, true}, // in each release by itself, so that it is clear at once
		{1, .3, 4, 64, true},
		{1, -.3, 4, 64, false},  // better at first, by chance
		{.999, 0, 4, 64, false}, // clearly worse, for which norms may be to blame
		{.999, 0, 3, 48, false},
		{.999, 0, 1, 16, false}, // not in the budget
	} {
		u := ones(len(sensors))
		for k := range u {
			u[k] = c.factor * equal * (1 + c.ripple*float64(1-2*(k%2)))
		}
		b.again = c.again
		s, err := p.compare(d, sensors, u, equal, b)
		if none := (*NoGain)(nil); errors.As(err, &none) {
			s = &none.Simulated
		} else if err != nil {
			t.Fatal(err)
		}
		if s.Trials != c.trials || (err == nil) != c.gain {
			t.Errorf("%+v: %+v, %v", c, *s, err)
		}
		workers := runtime.GOMAXPROCS(3)
		same, err := p.compare(d, sensors, u, equal, b)
		runtime.GOMAXPROCS(workers)
		if none := (*NoGain)(nil); errors.As(err, &none) {
			same = &none.Simulated
		}
		if *same != *s {
			t.Errorf("%+v: %+v with three workers, %+v", c, *same, *s)
		}
	}
}
