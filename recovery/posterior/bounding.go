// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// effort limits the work of boundedNorms.
type effort struct {
	probes int // in all
	peaks  int // exact norms at a time
	most   int // exact norms in all; half of them before directions are taken
}

func defaultEffort() effort { return effort{probes: 192, peaks: 64, most: 512} }

// bounding narrows bounds on the norms of all nodes until they no longer matter to the
// posterior.
type bounding struct {
	*products
	e           evidence
	logPrior, c []float64 // c = Aᵀy
	cError      float64   // of an entry of c
	out         Norms
	low, high   []float64 // bounds on the log weight of each node
	exact       []bool    // nodes of exact norms
	done        int       // how many

	// What the bounds leave open: the error of each posterior probability and of all, and the error of the log odds
	// of the first two.
	logShare []float64
	logTotal float64
	odds     float64
}

func (p *products) newBounding(e evidence, logPrior []float64) *bounding {
	n := len(logPrior)
	s := &bounding{
		products: p, e: e, logPrior: logPrior, c: make([]float64, n), cError: productError(p.Data), exact: make([]bool, n),
		out: Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)},
	}
	floats.AddConst(math.Inf(1), s.out.High)
	p.A.MulVecTo(s.c, true, p.Y)
	return s
}

// boundedNorms bounds the norms by the balls that heat reaches where that is cheap, else by probes: a few of whole columns, then
// of what the directions that matter to the posterior leave of them. After both the norms that contribute most to what is still
// open are computed exactly.
func (p *products) boundedNorms(ctx context.Context, e evidence, logPrior []float64, b effort) (Norms, error) {
	s := p.newBounding(e, logPrior)
	if local, err := s.local(ctx); local || err != nil {
		if err == nil && !s.settled() {
			err = s.peaks(ctx, b.peaks, b.most)
		}
		return s.out, err
	}
	f := newDeflation(s.products, 1)
	if err := s.round(ctx, f, probeWidth, b.probes, b.peaks, b.most/2); err != nil || s.settled() {
		return s.out, err
	}
	for before := -1; before < f.q.K && f.q.K < probeWidth; {
		before = f.q.K
		if err := f.extend(ctx, s.weights()); err != nil {
			return s.out, err
		}
	}
	return s.out, s.round(ctx, f, b.probes, b.probes, b.peaks, b.most)
}

// round takes up to so many probes, until they settle the posterior, and norms exactly. Where only the odds of the first two are open
// a few exact norms come before more probes. None come before directions where they would leave an error of 1 or more, which bounds
// nothing. Each number of probes that may be looked at, of most in all and of the first, may fail.
func (s *bounding) round(ctx context.Context, f *deflation, probes, most, atATime, exact int) error {
	looks := 1 + (most+probeWidth-1)/probeWidth
	for tried := false; ; tried = true { // tried: exact norms
		for f.probes < probes && (s.logShare == nil || s.logTotal > math.Log(posteriorTol) || tried && s.odds > posteriorTol) {
			if err := f.probe(ctx, min(probeWidth, probes-f.probes)); err != nil {
				return err
			}
			s.out.intersect(f.bounds(normFailure / float64(looks)))
			s.assess()
		}
		if f.q.K == 0 && s.left(s.largest(s.logShare, exact)) >= 0 {
			return nil
		}
		if err := s.peaks(ctx, atATime, exact); err != nil || f.probes == probes || s.settled() {
			return err
		}
	}
}

// assess updates what the bounds leave open.
func (s *bounding) assess() {
	weight := s.e.weights(s.c, s.out.N, s.logPrior)
	s.low, s.high = s.e.weightBounds(s.c, s.out, s.cError, s.logPrior)
	s.logShare = logShareErrors(s.low, s.high, logSum(weight))
	s.logTotal, s.odds = logSum(s.logShare), logOddsError(weight, s.low, s.high)
}

func (s *bounding) settled() bool {
	return s.logTotal <= math.Log(posteriorTol) && s.odds <= posteriorTol
}

// peaks computes up to so many norms in all exactly, some at a time, as long as that is
// worthwhile.
func (s *bounding) peaks(ctx context.Context, atATime, budget int) error {
	for odds := math.Inf(1); s.done < min(budget, len(s.c)); {
		picks := s.picks(min(max(1, atATime), budget-s.done), budget-s.done, odds)
		if len(picks) == 0 {
			break
		}
		if err := s.columnNorms(ctx, s.out.N, picks); err != nil {
			return err
		}
		for _, i := range picks {
			s.exact[i] = true
			s.out.Low[i], s.out.High[i] = widen(s.out.N[i], s.out.N[i], linop.Err(s.A))
		}
		s.done += len(picks)
		odds = s.odds
		s.assess()
	}
	return nil
}

// picks returns up to k nodes whose norms to compute exactly, none where that is not
// worthwhile: those of the largest shares of the error where at most so many account for half
// of it, else those that may be the likeliest.
func (s *bounding) picks(k, most int, oddsBefore float64) []int {
	if candidates := s.largest(s.logShare, most); s.logTotal > math.Log(posteriorTol) && s.left(candidates) <= s.logTotal-math.Ln2 {
		return candidates[:min(k, len(candidates))]
	}
	if s.odds > posteriorTol && s.odds < 0.9*oddsBefore { // above its goal, and a tenth below its value before the last step
		return s.largest(s.high, min(k, probeWidth))
	}
	return nil
}

// left returns the logarithm of the error of the posterior without that of some nodes.
func (s *bounding) left(nodes []int) float64 {
	left := slices.Clone(s.logShare)
	for _, i := range nodes {
		left[i] = math.Inf(-1)
	}
	return logSum(left)
}

// largest returns the nodes of the k largest values but those of exact norms, largest first; of equal
// ones those of lower nodes come first.
func (s *bounding) largest(x []float64, k int) (out []int) {
	least := math.Inf(-1) // of the k largest so far, where there are as many
	for i, exact := range s.exact {
		if exact || len(out) >= k && !(x[i] > least) {
			continue
		}
		if out = append(out, i); len(out) == 2*k {
			out = descending(out, x)[:k]
			least = x[out[k-1]]
		}
	}
	return descending(out, x)[:min(k, len(out))]
}

// weights returns what directions are worth to each node, relative to the most: its share of the error. Shares above the goal count
// alike, since where bounds are as wide as that it is mostly chance which is the larger. It is nil where none is finite.
func (s *bounding) weights() []float64 {
	w, most := make([]float64, len(s.logShare)), min(math.Log(posteriorTol), floats.Max(s.logShare))
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return nil
	}
	eachRow(len(w), logWork/16, func(i int) {
		w[i] = math.Exp(min(s.logShare[i], most) - most)
	})
	return w
}

// localTolerances are the errors allowed, in turn, to columns that matter to the posterior,
// relative to the longest that a column can be.
var localTolerances = []float64{1e-2, 1e-4, 1e-7, 0}

// localProducts is the number of products that probes take at least: beyond their time
// balls are not tried.
const localProducts = 128

// local bounds all norms by the balls that heat reaches, as the operator can, first
// roughly and then better where it matters. It reports false where probes are cheaper.
func (s *bounding) local(ctx context.Context) (bool, error) {
	js := everyNode(len(s.c))
	for level, tol := range localTolerances {
		ok, err := s.balls(ctx, js, tol, max(localProducts, min(len(js), exactOrder)))
		if !ok || err != nil {
			return level > 0, err
		}
		s.assess()
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
