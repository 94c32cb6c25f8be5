// SPDX-License-Identifier: Apache-2.0

package expm

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

// The speed of the kernels, in seconds.
const (
	secondsPerCube  = 2.5e-9 // eigendecomposition, for each n³
	secondsPerEntry = 1e-9   // product, for each entry read
	secondsPerCell  = 0.5e-9 // dense product, for each entry
	blockFraction   = 0.25   // of a product alone, for a column of a block
	eigenAlways     = 600    // an eigendecomposition below this order takes half a second
	eigenLimit      = 3000   // beyond, it takes minutes
	eigenResort     = 6000   // above, 24n² bytes are too many even where no other method reaches the accuracy
)

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
		return Cost{}, d.largeTauError(err)
	}
	c.Degree = len(p) - 1
	c.Bytes = int64(32*n) + int64(8*len(p))
	c.Apply = float64(c.Degree) * float64(l.Work()) * secondsPerEntry
	c.Column = blockFraction * c.Apply
	return c, nil
}

// chooseMethod resolves Auto: Eigen where it costs less than diffusing every node twice
// by Chebyshev, about the work of planning and recovery, or where only Eigen reaches a
// useful error bound; Chebyshev otherwise.
func chooseMethod(l Generator, tau, tol float64) Method {
	n := float64(l.Order())
	if n <= eigenAlways {
		return Eigen
	}
	if n > eigenResort {
		return Chebyshev
	}
	p, tail, rounding, err := chebyshev(l, tau, tol)
	if err != nil || tail+rounding > maxErr {
		return Eigen
	}
	if n <= eigenLimit && 2*n*float64(len(p))*float64(l.Work())*secondsPerEntry > secondsPerCube*n*n*n {
		return Eigen
	}
	return Chebyshev
}
