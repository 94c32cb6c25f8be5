// SPDX-License-Identifier: Apache-2.0

package connector

import "fmt"

// Count says how many there are of a thing, such as "1 node" or "2 nodes".
func Count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
