// SPDX-License-Identifier: Apache-2.0

package report

// Breakdown says of a plan how many sensors, lying at will within the range that readings are
// clipped to, it takes to make another community than the right one the likeliest, over
// simulated releases whose answer is right. One more than there are sensors: not even all can.
type Breakdown struct {
	FaultRate float64 `json:"sensorFaultRate"` // that the posterior supposes
	Answers   int     `json:"answers"`         // releases whose answer was right
	AtLeast   Liars   `json:"atLeast"`         // fewer cannot, whatever they publish: a certificate
	AtMost    Liars   `json:"atMost"`          // as many can: an attack was seen to
}

// Liars are numbers of sensors over simulated answers: what one in ten and what half of these do
// not exceed.
type Liars struct {
	Tenth  int `json:"tenth"`
	Median int `json:"median"`
}

// Possible reports whether simulation under a plan of so many sensors can give these numbers.
func (b *Breakdown) Possible(sensors int) bool {
	rising := func(x ...int) bool {
		last := 1
		for _, v := range x {
			if v < last || v > sensors+1 {
				return false
			}
			last = v
		}
		return true
	}
	return b.FaultRate > 0 && b.FaultRate < 1 && b.Answers >= 1 && b.Answers <= mostTrials &&
		rising(b.AtLeast.Tenth, b.AtLeast.Median, b.AtMost.Median) && rising(b.AtLeast.Tenth, b.AtMost.Tenth, b.AtMost.Median)
}

// BreakdownPoint brackets how many of the sensors, had they published something else, would have made
// another community the likeliest.
type BreakdownPoint struct {
	AtLeast int `json:"atLeast"` // fewer cannot, whatever they publish: a certificate
	AtMost  int `json:"atMost"`  // as many can: an attack was seen to. One more than there are sensors: it failed
}
