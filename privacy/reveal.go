// SPDX-License-Identifier: Apache-2.0

package privacy

import "fmt"

// Reveal removes the noise of an escrowed release exactly: it returns the clipped
// readings, rounded to the lattice, beside Plan().Sensors. Every sensor's nonce is
// recomputed from the result; ErrReveal where one differs, and nothing is
// returned. The caller records it with [MarkRevealed].
//
// Proof: docs/proofs/escrow.md.
func (e *Escrow) Reveal(r *Release) ([]float64, error) {
	if r.plan.Randomness != EscrowRandomness {
		return nil, fmt.Errorf("privacy: release %q drew its noise from the system: there is nothing that removes it", r.id)
	}
	if r.deployment != e.deployment || r.epoch != e.epoch {
		return nil, fmt.Errorf("%w: release %q is of deployment %q, epoch %d; the key is of %q, epoch %d",
			ErrReveal, r.id, r.deployment, r.epoch, e.deployment, e.epoch)
	}
	y := make([]float64, len(r.x))
	for i, s := range r.plan.Sensors {
		key, err := e.SensorKey(string(s.ID))
		if err != nil {
			return nil, err
		}
		mac := key.newMAC()
		n, err := mac.noiseOf(r.id, s.calibration(), r.nonces[i], s.Steps)
		if err != nil {
			return nil, err
		}
		reading := r.x[i] - n
		if mac.nonce(r.id, s.calibration(), reading) != r.nonces[i] {
			return nil, fmt.Errorf("%w: sensor %q of release %q", ErrReveal, s.ID, r.id)
		}
		y[i] = value(reading, s.Exponent)
	}
	return y, nil
}
