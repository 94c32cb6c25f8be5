// SPDX-License-Identifier: Apache-2.0

package recovery

// Normal is ColumnGeneration by normal equations at any size, whose columns may take
// some bytes.
func Normal(memory int) ColumnGeneration { return ColumnGeneration{memory: memory} }
