// SPDX-License-Identifier: Apache-2.0

package privacy

// sample returns N for a stream and S = steps.
func sample(src words, steps int64) (int64, error) {
	return sampleExact(src.next(), src, steps)
}
