// SPDX-License-Identifier: Apache-2.0

package recovery

// Normal is ColumnGeneration by normal equations at any size, whose columns may take
// some bytes.
func Normal(memory int) ColumnGeneration { return ColumnGeneration{memory: memory} }

// Resized returns the ball with the radius that the noise exceeds with probability beta.
func (b Ball) Resized(beta float64) Ball {
	b.resize(beta)
	return b
}
