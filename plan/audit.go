// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"

	"github.com/graphcloak/graphcloak/privacy"
)

// WorstReadings returns the readings of the plan's sensors for neighbouring sources at
// the two ends of the relationship at which its sensitivity is attained, for an audit:
// a unit source at one end, of which as much as α permits has moved to the other. ok
// is false where the plan names no relationship of this graph, or a node beyond it.
func (m *Model) WorstReadings(p *privacy.Plan) (a, b []float64, ok bool) {
	rows, _ := m.Operator.M().Dims()
	for _, s := range p.Sensors {
		if s.Node < 0 || s.Node >= rows {
			return nil, nil, false
		}
	}
	var columns [2][]float64
	for end, id := range p.Sensitivity.Edge {
		node, known := m.Graph.Index(id)
		if !known {
			return nil, nil, false
		}
		f, y := make([]float64, m.Graph.Order()), make([]float64, rows)
		f[node] = 1
		m.Operator.M().MulVecTo(y, false, f)
		for _, s := range p.Sensors {
			columns[end] = append(columns[end], y[s.Node])
		}
	}
	a, b = columns[0], columns[1]
	var square float64
	for k, s := range p.Sensors {
		square += s.Weight * (a[k] - b[k]) * (a[k] - b[k])
	}
	if moved := p.Sensitivity.Upper / math.Sqrt(square); moved < 1 {
		for k := range b {
			b[k] = a[k] + moved*(b[k]-a[k])
		}
	}
	return a, b, true
}
