// SPDX-License-Identifier: Apache-2.0

// Package suggest finds what a misspelt name was meant to be.
package suggest

import "strings"

// Nearest returns the candidate nearest to a name by the number of edits, or "" where
// the nearest takes more than a third of the name's letters, and more than one. Case,
// and the signs "-", "_" and "." between words, do not count. Of equals the first is
// taken.
func Nearest(name string, candidates []string) string {
	word := letters(name)
	best, limit := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := edits(word, letters(c), limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

func letters(s string) []rune {
	return []rune(strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s)))
}

// edits returns the least number of insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (Damerau–Levenshtein, no letter touched twice), or limit
// where it is at least that. It holds three rows of the table.
func edits(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			substitute := last[j]
			if a[i] != b[j] {
				substitute++
			}
			row[j+1] = min(substitute, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
