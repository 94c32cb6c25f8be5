// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a run as one HTML file: the answer, a map of the
// graph, the ranking, what was promised and what it cost. The file needs no network, no
// script and no style: without its style it is plain, and says the same.
//
// Start with [Write]. Every name in a report comes from outside; html/template escapes it
// and characters that reorder or hide text are shown by their code.
package page
