// SPDX-License-Identifier: Apache-2.0

//go:build !race

package graph_test

const raceEnabled = false
