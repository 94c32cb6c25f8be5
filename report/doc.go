// SPDX-License-Identifier: Apache-2.0

// Package report holds what is published of a run: the answer with its
// confidence, the guarantee in words, and the table that a store writes back.
//
// Start with [Report]; [NewTable] turns one, with the release that it rests on,
// into node properties and a run record. Every number in a report is finite: what
// has no value is absent.
package report
