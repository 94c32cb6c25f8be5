// SPDX-License-Identifier: Apache-2.0

package sensitivity

import "context"

// PerSensor brackets Δ₂ of each reading alone,
//
//	α · max over edges of |M_si − M_sj| / length(e)   for each sensor s,
//
// in the order of Model.Sensors (nodes where that is nil).
func PerSensor(ctx context.Context, m Model, opts Options) ([]Bracket, error) {
	b, err := Bound(ctx, m, nil, opts)
	if err != nil {
		return nil, err
	}
	n := len(m.Sensors)
	if m.Sensors == nil {
		n = m.Graph.Order()
	}
	out := make([]Bracket, n)
	for i := range out {
		out[i] = Bracket{Upper: b.Upper, Edge: b.Edge, Failure: b.Failure}
	}
	return out, nil
}
