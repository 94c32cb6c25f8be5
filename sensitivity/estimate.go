// SPDX-License-Identifier: Apache-2.0

package sensitivity

import "github.com/graphcloak/graphcloak/expm"

// Cost says what [Bound] takes, before anything is allocated.
type Cost struct {
	Bytes   int64   // beside the graph and its Laplacian
	Seconds float64 // of one core; Options.Time limits it
}

// typicalColumns is the number of columns that the search diffuses on most graphs: a
// block of seeds, looks at 16 to 128 columns, and columns of what remains. Graphs on
// which many edges are nearly the worst (scale-free ones at large τ) need up to two
// thousand, and spatial ones, which the local tier closes, next to none.
const typicalColumns = 160

// Estimate says what [Bound] would cost. The errors are those of [expm.Estimate].
func Estimate(m Model, opts Options) (Cost, error) {
	if err := m.check(); err != nil {
		return Cost{}, err
	}
	n, e := float64(m.Graph.Order()), float64(m.Graph.Size())
	held := m.Diffusion != nil && m.Diffusion.Spectrum() != nil
	if held || n <= exactOrder {
		c := Cost{Bytes: int64(24*e + 32*n*n), Seconds: 1e-9 * e * n}
		if !held {
			d, err := expm.Estimate(m.Laplacian, m.Tau, expm.Options{Method: expm.Eigen})
			if err != nil {
				return Cost{}, err
			}
			c.Seconds += d.Prepare
		}
		return c, nil
	}
	d, err := expm.Estimate(m.Laplacian, m.Tau, expm.Options{Method: expm.Chebyshev, Tolerance: 1e-6})
	if err != nil {
		return Cost{}, err
	}
	block := 16.0
	if 16*n > blockEntries {
		block = 8
	}
	// An edge with its bound, its place in the list and its squares twice; x, y, Z, G
	// and two vectors of the recurrence; the blocks that are kept.
	kept := min(4*block*n, keptEntries)
	return Cost{Bytes: int64(60*e + 8*(6*block*n+kept)), Seconds: typicalColumns*d.Column + 1e-6*e}, nil
}
