// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// Heat on a path of four nodes; the source is the first node.
func Example() {
	m := linop.Dense{M: mat.NewDense(4, 4, []float64{
		0.7, 0.2, 0.1, 0.0,
		0.2, 0.6, 0.1, 0.1,
		0.1, 0.1, 0.6, 0.2,
		0.0, 0.1, 0.2, 0.7,
	})}
	const sigma = 0.1
	released := []float64{0.75, 0.12, 0.14, -0.03}

	data, err := measurement.Whiten(m, released, measurement.Uniform(sigma, len(released)))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := posterior.New(context.Background(), data, posterior.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	halves, err := p.Groups([]int{0, 0, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("node %d, first half with probability %.3f\n", p.Best(), halves[0])
	// Output:
	// node 0, first half with probability 1.000
}
