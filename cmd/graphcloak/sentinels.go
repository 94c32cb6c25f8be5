// SPDX-License-Identifier: Apache-2.0

package main

// sentinel ties an error of a package to an exit code.
type sentinel struct {
	err  error
	exit int
}

// sentinels lists the errors on which a command acts.
func sentinels() []sentinel {
	return nil
}
