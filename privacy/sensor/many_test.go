// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// TestManySensorsDrawAlone: the values that each of many sensors makes for itself are together the release that the
// holder of the master secret makes of their readings, alone or beside others.
func TestManySensorsDrawAlone(t *testing.T) {
	escrow := must.Get(privacy.NewEscrow(bytes.Repeat([]byte{9}, privacy.KeySize), "hall", 3))(t)
	ids := []string{"17", "18"}
	for _, m := range []int{65, 1000} {
		p := plan(t, func(s *privacy.Spec) {
			s.Randomness, s.Public.NodeCount, s.Sensors = privacy.EscrowRandomness, m, nil
			for i := range m {
				s.Sensors = append(s.Sensors, privacy.Sensor{Node: i, ID: graph.ID(fmt.Sprint("s", i))})
				s.Weights = append(s.Weights, 1+float64(i%7)/3)
			}
			s.Sensitivity.Edge = [2]graph.ID{"s0", "s1"}
		})
		readings := make([][]float64, len(ids))
		for k := range ids {
			for i := range m {
				readings[k] = append(readings[k], float64(i+k)/float64(m))
			}
		}
		together := must.Get(p.PerturbEach(readings, ids, escrow))(t)
		for k, id := range ids {
			alone := must.Get(p.Perturb(readings[k], id, escrow))(t)
			want := text(t, drawAlone(t, p, escrow, readings[k], id))
			if text(t, together[k]) != want || text(t, alone) != want {
				t.Errorf("%d sensors, release %s: not what the sensors make", m, id)
			}
		}
	}
}

// drawAlone makes a release of the values that each sensor makes by its package and its key.
func drawAlone(t *testing.T, p *privacy.Plan, escrow *privacy.Escrow, readings []float64, id string) *privacy.Release {
	t.Helper()
	var values []privacy.SensorValue
	for i, pk := range packages(t, p, sensor.Options{Releases: 2, Deployment: "hall", Epoch: 3}) {
		key := must.Get(escrow.SensorKey(string(pk.Sensor.ID)))(t)
		v := must.Get(pk.Sensor.Perturb(readings[i], pk.Clip, id, key))(t)
		v.Plan, v.Deployment, v.Epoch = pk.Plan, pk.Deployment, pk.Epoch
		values = append(values, v)
	}
	r := must.Get(p.FromSensors(values))(t)
	return r
}

func text(t *testing.T, r *privacy.Release) string {
	t.Helper()
	data := must.Get(json.Marshal(r))(t)
	return string(data)
}
