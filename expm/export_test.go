// SPDX-License-Identifier: Apache-2.0

package expm

// RoundToGrid is for its test.
var RoundToGrid = roundToGrid

// GridUnits is for its test.
const GridUnits = gridUnits
