// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || purego

package laplacian

// multiply computes the rows from lo to hi.
func (l *Laplacian) multiply(j *job, lo, hi int) { l.generic(j, lo, hi) }
