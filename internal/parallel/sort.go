// SPDX-License-Identifier: Apache-2.0

package parallel

import "slices"

// sortPiece is the number of values that are sorted by one worker.
const sortPiece = 1 << 12

// SortFunc sorts x by compare, by which no two values may be equal: ranges of it at the same time, and then
// merged two by two.
func SortFunc[T any](x []T, compare func(a, b T) int) {
	n := len(x)
	count := pieces(n, sortPiece)
	Each(count, func(p int) { slices.SortFunc(x[p*sortPiece:min((p+1)*sortPiece, n)], compare) })
	if count <= 1 {
		return
	}
	from, to := x, make([]T, n)
	for size := sortPiece; size < n; size *= 2 {
		Each(pieces(n, 2*size), func(p int) {
			lo := 2 * size * p
			middle, hi := min(lo+size, n), min(lo+2*size, n)
			merge(to[lo:hi], from[lo:middle], from[middle:hi], compare)
		})
		from, to = to, from
	}
	copy(x, from)
}

// merge merges two sorted lists.
func merge[T any](to, a, b []T, compare func(a, b T) int) {
	for k := range to {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			to[k], a = a[0], a[1:]
		} else {
			to[k], b = b[0], b[1:]
		}
	}
}
