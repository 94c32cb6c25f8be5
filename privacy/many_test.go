// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"bytes"
	"runtime"
	"testing"
)

// TestEscrowOfManySensors: the noise of a release of many sensors is, by any number of workers, what the key of each
// sensor gives for its own reading.
func TestEscrowOfManySensors(t *testing.T) {
	const m = 500
	spec := testSpec(0)
	spec.Sensors, spec.Randomness = manySensors(t, m).sensors(), EscrowRandomness
	p := mustPlan(t, spec)
	e, err := NewEscrow(bytes.Repeat([]byte{7}, KeySize), "many", 3)
	if err != nil {
		t.Fatal(err)
	}
	readings := make([]float64, m)
	for i := range readings {
		readings[i] = float64(i) / m
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, workers := range []int{1, 3, 16} {
		runtime.GOMAXPROCS(workers)
		r, err := p.Perturb(readings, "r", e)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, s := range p.Sensors {
			key, err := e.SensorKey(string(s.ID))
			if err != nil {
				t.Fatal(err)
			}
			step := p.Clip.round(readings[i], s.Exponent)
			n, nonce, err := key.newMAC().noise("r", s.calibration(), step, s.Steps)
			if err != nil {
				t.Fatal(err)
			}
			if r.x[i] != step+n || r.nonces[i] != nonce {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%d workers: %d of %d values are not those of their sensors' keys", workers, wrong, m)
		}
	}
}

// sensors are those of a plan, without their noise.
func (p *Plan) sensors() (list []Sensor) {
	for _, s := range p.Sensors {
		list = append(list, s.Sensor)
	}
	return list
}
