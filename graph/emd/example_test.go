// SPDX-License-Identifier: Apache-2.0

package emd_test

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/emd"
)

func ExampleDistance() {
	g, err := graph.Path(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := emd.Distance(context.Background(), g, []float64{1, 0, 0, 0}, []float64{0, 0, 0.5, 0.5})
	fmt.Println(d, "hops", err)
	// Output: 2.5 hops <nil>
}
