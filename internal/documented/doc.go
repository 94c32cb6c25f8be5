// SPDX-License-Identifier: Apache-2.0

// Package documented reads the commands that a page of the documentation shows with what
// they print, compares that with what they print in truth, and writes the page again.
// It is a kit for tests.
//
// A block is one between "```console" and "```"; what is marked "```console recorded" is
// left out.
//
// A shown line that is "…" alone stands for any number of lines, "…" within a line for
// any text. Everything else must be there, in order, line by line, and nothing besides:
//
//   - text as it is, but for the width of spaces, of rules and of empty lines;
//   - whole numbers as they are, other numbers within [Tolerance];
//   - ids, hashes, times and durations by their form alone: any of its kind will do.
//
// A line "(exit N)" is a remark of the page: the exit code of a command that does not say
// it itself.
package documented
