// SPDX-License-Identifier: Apache-2.0

package report

// BreakdownPoint brackets how many of the sensors, had they published something else, would have made
// another community the likeliest.
type BreakdownPoint struct {
	AtLeast int `json:"atLeast"` // fewer cannot, whatever they publish: a certificate
	AtMost  int `json:"atMost"`  // as many can: an attack was seen to. One more than there are sensors: it failed
}
