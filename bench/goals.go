// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// goal is a target: its words, and whether a line meets it.
type goal struct {
	text string
	met  func(l line) bool
}

// faster asks for a ratio of the CPU times at an error that is no larger.
func faster(times float64) goal {
	return goal{fmt.Sprintf("≥ %g×", times), func(l line) bool {
		return l.theirs.CPU >= times*l.ours.CPU && noWorse(l.ours.Error, l.theirs.Error)
	}}
}

// fasterAt asks for a ratio of the CPU times where our error is at most as large.
func fasterAt(times, most float64) goal {
	return goal{fmt.Sprintf("≥ %g×", times), func(l line) bool {
		return l.theirs.CPU >= times*l.ours.CPU && l.ours.Error != nil && *l.ours.Error <= most
	}}
}

// noWorse compares errors; below a few units in the last place they are equal.
func noWorse(ours, theirs *float64) bool {
	return ours == nil || theirs == nil || *ours <= max(*theirs, 0x1p-50)
}

// slower allows a multiple of the peer's CPU time, whatever the errors.
func slower(times float64) goal {
	return goal{fmt.Sprintf("time ≤ %g×", times), func(l line) bool { return l.ours.CPU <= times*l.theirs.CPU }}
}

// within bounds our CPU seconds.
func within(seconds float64) goal {
	return goal{fmt.Sprintf("≤ %g s", seconds), func(l line) bool { return l.ours.CPU <= seconds }}
}

// accurate bounds our error.
func accurate(most float64) goal {
	return goal{fmt.Sprintf("error ≤ %.2g", most), func(l line) bool { return l.ours.Error != nil && *l.ours.Error <= most }}
}

// fits bounds the peak of our memory, in gibibytes.
func fits(gib float64) goal {
	return goal{fmt.Sprintf("≤ %g GiB", gib), func(l line) bool { return float64(l.ours.Memory) <= gib*(1<<30) }}
}

// share asks for a part of the memory bandwidth.
func share(least float64) goal {
	return goal{fmt.Sprintf("≥ %g %%", 100*least), func(l line) bool { return l.ours.Share >= least }}
}
