// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// TestManySensorsDrawAlone: the values that each of many sensors makes for itself are together the release that the
// holder of the master secret makes of their readings, alone or beside others.
func TestManySensorsDrawAlone(t *testing.T) {
	escrow, err := privacy.NewEscrow(bytes.Repeat([]byte{9}, privacy.KeySize), "hall", 3)
	if err != nil {
		t.Fatal(err)
	}
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
		together, err := p.PerturbEach(readings, ids, escrow)
		if err != nil {
			t.Fatal(err)
		}
		for k, id := range ids {
			alone, err := p.Perturb(readings[k], id, escrow)
			if err != nil {
				t.Fatal(err)
			}
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
		key, err := escrow.SensorKey(string(pk.Sensor.ID))
		if err != nil {
			t.Fatal(err)
		}
		v, err := pk.Sensor.Perturb(readings[i], pk.Clip, id, key)
		if err != nil {
			t.Fatal(err)
		}
		v.Plan, v.Deployment, v.Epoch = pk.Plan, pk.Deployment, pk.Epoch
		values = append(values, v)
	}
	r, err := p.FromSensors(values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *privacy.Release) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
