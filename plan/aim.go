// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
)

// Aim is what the choice of τ is judged by.
type Aim int

// The aims.
const (
	AimCommunity Aim = iota // how often the right community is named
	AimLocation             // the distance of the posterior from the source
)

var aims = [...]string{"community", "location"}

// String returns community or location.
func (a Aim) String() string {
	if a < 0 || int(a) >= len(aims) {
		return fmt.Sprintf("Aim(%d)", int(a))
	}
	return aims[a]
}

// ParseAim reads community or location; "" is community.
func ParseAim(s string) (Aim, error) {
	if i := slices.Index(aims[:], s); i >= 0 || s == "" {
		return Aim(max(0, i)), nil
	}
	return 0, fmt.Errorf("graphcloak: aim is %q, want community or location", s)
}

// TauChoice says how τ was chosen. The values are those of a rough simulation, good to
// compare one τ with another; [Plan].Accuracy says what the plan itself is worth. No file
// holds it: a plan file states τ as if it had been given.
type TauChoice struct {
	Aim    Aim        // [AimLocation] too where there is a single community
	Points []TauPoint // ascending; none where nothing could be compared
	Chance float64    // probability of the likeliest community without measurements
	// Hopeless reports whether no τ names the right community clearly more often than Chance.
	Hopeless bool
	// CutShort reports whether τ were left out that would have taken too long.
	CutShort bool
	Note     string // what a reader should know of the choice; "": nothing
}

// TauPoint is a τ that was tried.
type TauPoint struct {
	Tau       float64
	Accuracy  float64 // probability that the likeliest community is the right one
	LogLoss   float64 // of the community, in nats
	Distance  float64 // of the posterior from the source, in units of the metric
	Allocated bool    // of allocated noise; beyond 10,000 nodes equal noise is tried only where there is none
}
