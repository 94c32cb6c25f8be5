// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
)

func ExampleToNode() {
	g, err := graph.Path(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, elsewhere := emd.ToNode(emd.Lengths(g, 0), []float64{0, 0, 0.5, 0.5})
	fmt.Println(d, "hops,", elsewhere, "elsewhere")
	// Output: 2.5 hops, 0 elsewhere
}
