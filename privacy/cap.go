// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"time"
)

// Cap limits what the releases of a scope may spend together: all of them, or those
// of any time that is PerSeconds long. Such a sliding cap is a policy. What all
// releases together cost, however old, is another number, and stays what it is.
type Cap struct {
	Budget
	PerSeconds int64 `json:"perSeconds,omitempty"` // 0: all releases count, however old
}

// MaxWindow bounds the window of a sliding cap, in seconds: some hundred years.
const MaxWindow = 100 * 366 * 86400

// Window returns how long a release counts against the cap, 0 for ever.
func (c Cap) Window() time.Duration { return time.Duration(c.PerSeconds) * time.Second }

// Validate refuses what Budget.Validate does, and a window that is negative or longer
// than [MaxWindow].
func (c Cap) Validate() error {
	if c.PerSeconds < 0 || c.PerSeconds > MaxWindow {
		return fmt.Errorf("privacy: the window of a cap is %d s, want from 0 to %d", c.PerSeconds, int64(MaxWindow))
	}
	return c.Budget.Validate()
}

func (c Cap) String() string {
	text := fmt.Sprintf("ε = %v, δ = %v", c.Epsilon, c.Delta)
	switch days := c.PerSeconds / 86400; {
	case c.PerSeconds == 0:
	case c.PerSeconds%86400 == 0:
		text += fmt.Sprintf(" in any %d days", days)
	default:
		text += fmt.Sprintf(" in any %v", c.Window())
	}
	return text
}
