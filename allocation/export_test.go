// SPDX-License-Identifier: Apache-2.0

package allocation

import "time"

// WithClock returns options with another clock.
func WithClock(o Options, now func() time.Time) Options {
	o.clock = now
	return o
}
