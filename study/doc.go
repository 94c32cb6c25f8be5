// SPDX-License-Identifier: Apache-2.0

// Package study says by simulation what would happen under a plan before anything is
// spent: [Expect] how often the right community would be named, [Evaluate] how well
// sources are found and how far the posterior's confidence can be trusted, [PlanFor] the
// least ε that reaches a target, and [EstimateCommands] time and memory. It reads no signal.
package study
