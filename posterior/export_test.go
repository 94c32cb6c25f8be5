// SPDX-License-Identifier: Apache-2.0

package posterior

// Frugal makes a sampler keep columns of so many bytes.
func Frugal(o SampleOptions, memory int) SampleOptions {
	o.memory = memory
	return o
}
