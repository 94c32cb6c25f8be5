// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"bytes"
	"runtime"
	"strconv"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
)

// TestEscrowOfManySensors: the noise of releases of few sensors, and of more than one worker draws for, is, by any
// number of workers and with equal σ side by side, what the key of each sensor gives for its own readings.
func TestEscrowOfManySensors(t *testing.T) {
	e := must.Get(NewEscrow(bytes.Repeat([]byte{7}, KeySize), "many", 3))(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, m := range []int{9, 65, 1000} {
		p := manySensors(t, m)
		p.Randomness = EscrowRandomness
		readings, ids := manyReadings(3, m)
		for _, workers := range []int{1, 3, 16} {
			runtime.GOMAXPROCS(workers)
			releases := must.Get(p.PerturbEach(readings, ids, e))(t)
			alone := must.Get(p.Perturb(readings[0], ids[0], e))(t)
			checkSensorKeys(t, e, append(releases, alone), append(readings, readings[0]))
		}
	}
}

// manyReadings are readings of m sensors, all of them different.
func manyReadings(releases, m int) (readings [][]float64, ids []string) {
	for k := range releases {
		y := make([]float64, m)
		for i := range y {
			y[i] = float64(i+k*m) / float64(m*releases)
		}
		readings, ids = append(readings, y), append(ids, "r"+strconv.Itoa(k))
	}
	return readings, ids
}

// checkSensorKeys draws the noise of each value again, one after the other.
func checkSensorKeys(t *testing.T, e *Escrow, releases []*Release, readings [][]float64) {
	t.Helper()
	for k, r := range releases {
		wrong := 0
		for i, s := range r.plan.Sensors {
			key := must.Get(e.SensorKey(string(s.ID)))(t)
			step := r.plan.Clip.round(readings[k][i], s.Exponent)
			n, nonce, err := key.newMAC().noise(r.id, s.calibration(), step, s.Steps)
			must.Do(t, err)
			if r.x[i] != step+n || r.nonces[i] != nonce {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("release %d, %d workers: %d of %d values are not those of their sensors' keys", k, runtime.GOMAXPROCS(0),
				wrong, len(r.x))
		}
	}
}
