// SPDX-License-Identifier: Apache-2.0

package expm

import "fmt"

// Cost estimates what a diffusion takes on one core of 2020s hardware, within about a
// factor of two.
type Cost struct {
	Method  Method
	Degree  int     // products with L for one application; 0 for Eigen
	Bytes   int64   // beside the graph
	Prepare float64 // seconds, once
	Apply   float64 // seconds, for a vector alone
	Column  float64 // seconds, for a column of a block
}

// Estimate predicts what New and one product would cost, before anything is
// allocated. Auto is resolved as by New. It returns [ErrAccuracy] as [New] does.
func Estimate(l Generator, tau float64, opts Options) (Cost, error) {
	d, err := newUnprepared(l, tau, opts)
	if err != nil {
		return Cost{}, err
	}
	n := float64(l.Order())
	c := Cost{Method: d.method}
	if d.method == Eigen {
		c.Bytes = int64(24 * n * n)
		c.Prepare = secondsPerCube * n * n * n
		c.Apply = 2 * secondsPerCell * n * n
		c.Column = blockFraction * c.Apply
		return c, nil
	}
	p, _, err := heatWeights(tau*l.Bound()/2, d.tol/d.condition)
	if err != nil {
		return Cost{}, fmt.Errorf("%w; tau = %v", err, tau)
	}
	c.Degree = len(p) - 1
	c.Bytes = int64(32*n) + int64(8*len(p))
	c.Apply = float64(c.Degree) * float64(l.Work()) * secondsPerEntry
	c.Column = blockFraction * c.Apply
	return c, nil
}
