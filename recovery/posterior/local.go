// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// localTolerances are the errors allowed, in turn, to columns that matter to the posterior,
// relative to the longest that a column can be.
var localTolerances = []float64{1e-2, 1e-4, 1e-7, 0}

// localProducts is the number of products that probes take at least: beyond their time
// balls are not tried.
const localProducts = 128

// local bounds all norms by the balls that heat reaches, as the operator can, first
// roughly and then better where it matters. It reports false where probes are cheaper.
func (s *bounding) local(ctx context.Context) (bool, error) {
	js := make([]int, len(s.c))
	for i := range js {
		js[i] = i
	}
	for level, tol := range localTolerances {
		ok, err := s.balls(ctx, js, tol, max(localProducts, min(len(js), exactOrder)))
		if !ok || err != nil {
			return level > 0, err
		}
		s.assess(0)
		if js = s.mattering(); len(js) == 0 {
			break
		}
	}
	return true, nil
}

// balls narrows the bounds of the columns js.
func (s *bounding) balls(ctx context.Context, js []int, tol float64, most int) (bool, error) {
	low, high := make([]float64, len(js)), make([]float64, len(js))
	ok, err := linop.ColumnSquares(ctx, s.A, js, nil, tol, most, low, high)
	if !ok || err != nil {
		return false, err
	}
	for k, j := range js {
		l, h := max(s.out.Low[j], low[k]), min(s.out.High[j], high[k])
		root := (math.Sqrt(l) + math.Sqrt(h)) / 2
		s.out.Low[j], s.out.High[j], s.out.N[j] = l, h, min(max(root*root, l), h)
	}
	return true, nil
}

// mattering lists the nodes whose bounds are to be narrower: all but those whose errors add
// up to half of what is allowed to the posterior, and, where the log odds of the first two
// nodes are not known well, those that may be among these two.
func (s *bounding) mattering() []int {
	if s.settled() {
		return nil
	}
	least, second := math.Log(posteriorTol/2/float64(len(s.c))), firstTwo(s.low)[1]
	var out []int
	for i, share := range s.logShare {
		if share > least || s.odds > posteriorTol && s.high[i] >= second && s.high[i] > s.low[i] {
			out = append(out, i)
		}
	}
	return out
}
