// SPDX-License-Identifier: Apache-2.0

// Package serve answers over HTTP: the jobs and their runs and the remaining budgets as
// pages that need no script, health and readiness probes, and the metrics of Prometheus.
//
// Reading needs the token where there is one; a change always does, and comes from the
// server's own pages or from no page at all. Without a token only this machine is
// answered, under its own names. No answer holds a secret: tokens, passwords and what
// runs keep for themselves are in none of the types that are shown.
package serve
