// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// Aim is what the choice of τ is judged by.
type Aim int

// The aims.
const (
	AimCommunity Aim = iota // the log loss of the community
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

// MarshalText writes the name.
func (a Aim) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name.
func (a *Aim) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAim(string(text))
	return err
}

// TauChoice says how τ was chosen. The values are those of a rough simulation, good to
// compare one τ with another; [Plan].Accuracy says what the plan itself is worth.
type TauChoice struct {
	Aim    Aim        `json:"aim"`
	Points []TauPoint `json:"points"` // ascending; none where nothing could be compared
	Note   string     `json:"note,omitempty"`
}

// TauPoint is a τ that was tried.
type TauPoint struct {
	Tau       float64 `json:"tau"`
	LogLoss   float64 `json:"logLoss"`      // of the community, in nats
	Distance  float64 `json:"meanDistance"` // of the posterior from the source, in units of the metric
	Allocated bool    `json:"allocated"`    // allocated noise was better than equal noise
}

// consistent refuses what no search of ours says of the τ that it chose. It changes nothing
// about the guarantee, which follows from τ itself.
func (c *TauChoice) consistent(tau float64) error {
	if c == nil {
		return nil
	}
	last := 0.0
	for _, p := range c.Points {
		if !(p.Tau > last && p.LogLoss >= 0 && p.Distance >= 0) {
			return fmt.Errorf("%w: the values of tau that were tried do not ascend, or one has an impossible value", strictjson.ErrInvalid)
		}
		last = p.Tau
	}
	if c.Points == nil || math.IsInf(last, 1) || len(c.Points) > 0 && !slices.ContainsFunc(c.Points, func(p TauPoint) bool { return p.Tau == tau }) && c.Note == "" {
		return fmt.Errorf("%w: tau = %v is not among the values that it was chosen from", strictjson.ErrInvalid, tau)
	}
	return nil
}
