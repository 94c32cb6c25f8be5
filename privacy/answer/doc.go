// SPDX-License-Identifier: Apache-2.0

// Package answer makes answers of yes or no private, by randomized response.
//
// A person who is asked whether they have heard a rumour answers the truth, turned round
// with probability f = 1/(1 + e^ε) (Warner 1965). Each answer is ε-differentially private
// by itself, with δ = 0, however the rumour spread and whatever the graph is.
//
// A [Plan] says what is asked of whom: all of it is public. Pay its [Plan.Charge] with
// privacy.Spend, then make a [Release] with [Plan.Answer]; or give each person a [Package] of
// [Plan.Packages], and collect what they sent with [Plan.Collect].
//
// Answers are asked in rounds. The one of a round is kept and given again whatever the truth
// has become, and [Kept.Unasked] says who has none. A new round asks with fresh coins, and costs
// everybody who is asked ε, whether their truth has changed or not: when somebody is asked
// again follows from public facts alone, so that an answer which changes proves nothing.
//
// Proof: docs/proofs/answers.md.
package answer
