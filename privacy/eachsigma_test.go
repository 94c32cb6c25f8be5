// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestPerturbEachSigma: among sensors of different σ, equal ones beside each other or not, each gets the noise that it
// draws on its own with its key.
func TestPerturbEachSigma(t *testing.T) {
	spec := testSpec(9)
	spec.Randomness, spec.Weights = EscrowRandomness, []float64{1, 1, .5, .5, 1, .25, 1, 1, .25}
	p := mustPlan(t, spec)
	escrow := must.Get(NewEscrow(masterKey(), "d", 1))(t)
	readings := make([]float64, len(p.Sensors))
	for i := range readings {
		readings[i] = float64(i) / 9
	}
	r := must.Get(p.Perturb(readings, "r", escrow))(t)
	for i, s := range p.Sensors {
		key := must.Get(escrow.SensorKey(string(s.ID)))(t)
		alone := must.Get(s.Perturb(readings[i], p.Clip, "r", key))(t)
		if got, want := r.x[i], alone.Steps; got != want || r.nonces[i] != *alone.Nonce {
			t.Errorf("sensor %d: %d steps with nonce %x, alone %d with %x", i, got, r.nonces[i], want, alone.Nonce)
		}
	}
}
