// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
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
	yt := []float64{0.75, 0.12, 0.14, -0.03} // what the sensors released
	ctx := context.Background()

	data, err := measurement.Whiten(m, yt, measurement.Uniform(sigma, len(yt)))
	if err != nil {
		fmt.Println(err)
		return
	}
	res, ball, err := recovery.Recover(ctx, data, recovery.ColumnGeneration{}, recovery.Chi2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v in the %v ball: mass %.3f, gap below 1e-10: %v\n", res.Status, ball.Rule, res.Objective, res.Gap < 1e-10)
	// Output:
	// optimal in the chi2 ball: mass 0.647, gap below 1e-10: true
}
