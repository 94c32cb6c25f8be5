// SPDX-License-Identifier: Apache-2.0

// Package serve answers over HTTP: the jobs and their runs, the remaining budgets, health
// and readiness probes, and the metrics of Prometheus; to people as
// pages that need no script, to programs as JSON that openapi.json describes.
//
// Reading needs the token where there is one; a change always does, and comes from the
// server's own pages or from no page at all. Without a token only this machine is
// answered, under its own names. No answer holds a secret: tokens, passwords and what
// runs keep for themselves are in none of the types that are written.
package serve
