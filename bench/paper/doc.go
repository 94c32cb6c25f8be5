// SPDX-License-Identifier: Apache-2.0

// Package paper redraws every figure and table of Gilbert & McMillan, "Local
// Differential Privacy for Physical Sensor Data and Sparse Recovery"
// (arXiv:1706.05916), puts the paper's numbers beside computed ones, and checks its
// lemmas on families of random graphs.
//
// [Exhibits] lists them. [Exhibit.Run] computes one: tables, plots, and claims, each
// in the printed form and in the true one. [Write] makes CSV, PNG, SVG and one page
// of them. It is a use of the library, and nothing in the library depends on it.
//
// Trials have seeds of their own, derived from the run's: the same seed gives the
// same tables, whatever the number of processors.
package paper
