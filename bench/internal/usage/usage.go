// SPDX-License-Identifier: Apache-2.0

// Package usage tells what a process has taken of the machine.
package usage

import "time"

// CPU is the processor time of this process so far, user and system; 0 where the system does
// not tell.
func CPU() time.Duration {
	user, system, _ := self()
	return user + system
}

// User is the processor time of this process so far, outside of the system.
func User() time.Duration {
	user, _, _ := self()
	return user
}

// Peak is the most memory that this process held so far, in bytes; 0 where the system does not
// tell.
func Peak() int64 {
	_, _, peak := self()
	return peak
}
