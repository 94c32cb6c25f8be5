// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/privacy"
)

// In each scenario of broken sensors as many break, the same ones, and each reads what its name says.
func TestBrokenSensors(t *testing.T) {
	clip := privacy.Interval{Lo: -1, Hi: 3}
	sound := make([]float64, 150)
	random := rand.New(rand.NewPCG(1, 2))
	for k := range sound {
		sound[k] = .1 + 2*random.Float64()
	}
	broken := map[string][]int{}
	for name, as := range map[string]func(y, sound float64) bool{
		"faulty-sensors":   func(y, _ float64) bool { return y == 3 },
		"silent-sensors":   func(y, _ float64) bool { return y == 0 },
		"drifting-sensors": func(y, sound float64) bool { return y >= sound-1.2 && y <= min(3, sound+1.2) },
	} {
		s := Scenarios()[slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == name })]
		readings := slices.Clone(sound)
		s.disturb(readings, clip, 7, 4)
		for k, y := range readings {
			if y == sound[k] {
				continue
			}
			broken[name] = append(broken[name], k)
			if !as(y, sound[k]) {
				t.Errorf("%s: a sensor that would read %v reads %v", name, sound[k], y)
			}
		}
	}
	if len(broken["faulty-sensors"]) != 3 || !slices.Equal(broken["faulty-sensors"], broken["silent-sensors"]) ||
		!slices.Equal(broken["faulty-sensors"], broken["drifting-sensors"]) {
		t.Errorf("of 150 sensors %v are broken, want the same three", broken)
	}
}
