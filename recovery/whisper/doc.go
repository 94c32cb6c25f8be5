// SPDX-License-Identifier: Apache-2.0

// Package whisper says who started a rumour, from yes or no answers that were flipped at random.
//
// Each person s who was asked answers y_s ∈ {0, 1}; a channel has flipped the answer with probability f, 0 < f < ½,
// by itself and whatever it was. Nobody knows when the rumour began or how many have heard it.
//
// [New] makes a [Model] of a graph, whose weights are the rates at which relationships pass the rumour on.
// [Model.Temper] simulates cascades and learns from them how far the likelihood can be trusted; it reads no answer, and
// a plan may keep what it returns. [Model.Locate] makes of answers the probability of every person and community,
// and a test of "nobody has heard it". [Model.Evaluate] says how well that works on cascades whose source is known.
//
// Work and memory grow with the columns' supports: all columns of 10,000 people with 50,000 relationships take about a minute of one
// processor. Columns are not stored; each worker holds those of 16 sources, up to 900 bytes a person whom they reach,
// and of one source where sources are sampled.
//
// The model costs accuracy where it is wrong, never privacy: that is the channel's alone.
package whisper
