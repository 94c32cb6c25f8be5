// SPDX-License-Identifier: Apache-2.0

package laplacian_test

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
)

// A path of three nodes: L times the vector that is 1 at one end, and a bound on
// the largest eigenvalue, which is 3.
func ExampleNew() {
	g, err := graph.Path(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := laplacian.New(g, laplacian.Combinatorial)
	y := make([]float64, 3)
	l.MulVecTo(y, false, []float64{1, 0, 0})
	fmt.Println(y, l.Bound() >= 3)
	// Output: [1 -1 0] true
}
