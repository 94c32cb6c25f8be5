// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// The noise of each sensor is that of its own worst edge, by the certificate of
// [sensitivity.PerSensor]; a node without relationships, which has none, gets the loudest.
func TestPerSensorPeaks(t *testing.T) {
	var b graph.Builder
	for _, id := range []graph.ID{"a", "b", "c", "d", "e", "f", "z"} {
		if _, err := b.AddNode(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range [][2]graph.ID{{"a", "b"}, {"b", "c"}, {"b", "d"}, {"d", "e"}, {"e", "f"}} {
		if err := b.AddEdge(e[0], e[1], 1); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	d, err := expm.New(t.Context(), l, .5, expm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := sensitivity.Model{Graph: g, Laplacian: l, Tau: .5, Alpha: 2}
	brackets, err := sensitivity.PerSensor(t.Context(), m, sensitivity.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, b := range brackets {
		want = append(want, b.Upper)
	}
	want[g.Order()-1] = slices.Max(want)
	p, sensors := unread(t, m, d, nil, Location, Options{})
	got, err := p.sensorPeaks(d, sensors)
	if err != nil {
		t.Fatal(err)
	}
	for s, v := range got {
		if math.Abs(math.Sqrt(v)-want[s]) > 1e-6*want[s] {
			t.Errorf("sensor %d: √%v, want %v", s, v, want[s])
		}
	}
}
