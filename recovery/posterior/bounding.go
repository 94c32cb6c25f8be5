// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// bounding narrows bounds on the norms of all nodes until they no longer matter to the
// posterior.
type bounding struct {
	*products
	e           evidence
	logPrior, c []float64 // c = Aᵀy
	cError      float64   // of an entry of c
	out         Norms
	low, high   []float64 // bounds on the log weight of each node
	logZ        float64   // of all weights
	uncertainty
	done int // exact norms
}

func (p *products) newBounding(e evidence, logPrior []float64) *bounding {
	n := len(logPrior)
	s := &bounding{products: p, e: e, logPrior: logPrior, c: make([]float64, n), cError: productError(p.Data), out: unbounded(n)}
	p.A.MulVecTo(s.c, true, p.Y)
	s.exact = make([]bool, n)
	return s
}

// unbounded returns bounds of 0 and +∞.
func unbounded(n int) Norms {
	out := Norms{N: make([]float64, n), Low: make([]float64, n), High: make([]float64, n)}
	floats.AddConst(math.Inf(1), out.High)
	return out
}

// assess updates the uncertainty that the bounds leave, and lists k candidates.
func (s *bounding) assess(k int) {
	weight := s.e.weights(s.c, s.out.N, s.logPrior)
	s.logZ = logSum(weight)
	s.low, s.high = s.e.weightBounds(s.c, s.out, s.cError, s.logPrior)
	s.measure(weight, s.low, s.high, s.logZ)
	s.rank(k)
}

// boundedNorms bounds the norms by the balls that heat reaches where that is cheap, else in
// rounds of probes. Each round computes exactly the norms that contribute most to the
// uncertainty that the rounds before left.
func (p *products) boundedNorms(ctx context.Context, e evidence, logPrior []float64, b effort) (Norms, error) {
	s := p.newBounding(e, logPrior)
	if local, err := s.local(ctx); local || err != nil {
		if err == nil && !s.settled() {
			err = s.peaks(ctx, b.peaks, b.most)
		}
		return s.out, err
	}
	f, err := s.begin(ctx, b)
	if err != nil {
		return s.out, err
	}
	for round := range b.rounds {
		if err := s.round(ctx, f, b, round); err != nil || s.settled() {
			return s.out, err
		}
	}
	return s.out, nil
}

// coarseShare is the share of the errors allowed to the posterior that cheaper products for
// probes may make.
const coarseShare = 0.1

// begin takes 16 probes, by products that are as coarse as the posterior allows. The column of a
// source that stands out by ‖A‖₂ standard deviations has a log evidence that an error of its length
// changes by ‖A‖₂ times as much. Where more than a share of the allowed would be open because of the error of
// coarse products, they are dropped: what follows does not depend on them.
func (s *bounding) begin(ctx context.Context, b effort) (*deflation, error) {
	f, first, beta := newDeflation(s.products, 1), min(probeWidth, b.probes), normFailure/float64(b.looks())
	f.a = linop.Coarse(s.A, coarseShare*posteriorTol/linop.Norm(s.A))
	if err := s.probe(ctx, f, first, beta); err != nil || linop.Err(f.a) <= linop.Err(s.A) {
		return f, err
	}
	open := s.foreseen(f, math.Inf(1), beta, linop.Err(f.a))
	if math.Exp(open.logTotal) <= coarseShare*posteriorTol && open.odds <= coarseShare*posteriorTol {
		return f, nil
	}
	f.a, f.probes, s.out = s.A, 0, unbounded(len(s.c))
	return f, s.probe(ctx, f, first, beta)
}

// looks is the number of bounds that rounds may look at, each of which may fail: for each
// choice of directions, one more than rounds, any number of blocks of probes, and what is left
// of a block at the end of a round. Which of them are looked at depends on the probes.
func (b effort) looks() int {
	blocks := (b.probes<<(2*(b.rounds-1)) + probeWidth - 1) / probeWidth
	return (b.rounds + 1) * (blocks + b.rounds)
}

// round takes directions where these hold so much that fewer probes make up for their products,
// then as many probes as are seen to settle the posterior, and norms exactly. Probes before
// count on while the directions are the same.
func (s *bounding) round(ctx context.Context, f *deflation, b effort, round int) error {
	most, beta := b.probes<<(2*round), normFailure/float64(b.looks())
	p := s.plan(f, most, beta)
	if weight := p.left.weights(); f.worthwhile(weight, p.need, most) {
		if err := f.grow(ctx, probeWidth<<(2*round), weight, s.out.N); err != nil {
			return err
		}
		if err := s.probe(ctx, f, min(probeWidth, most), beta); err != nil {
			return err
		}
		p = s.plan(f, most, beta)
	}
	for more := s.more(f, p, most); more > 0; more = s.more(f, p, most) {
		if err := s.probe(ctx, f, more, beta); err != nil {
			return err
		}
		p = s.plan(f, most, beta)
	}
	return s.peaks(ctx, b.peaks, b.most*(round+1)/b.rounds)
}

// probePlan is what more probes are seen to do.
type probePlan struct {
	left uncertainty // after the most that may be taken
	need int         // how many in all settle the posterior; more than may be taken where these do not
}

// plan looks ahead, as far as there is a choice.
func (s *bounding) plan(f *deflation, most int, beta float64) probePlan {
	if s.excess(s.uncertainty) <= 0 || f.probes >= most && s.done > 0 {
		return probePlan{need: f.probes}
	}
	left := s.forecast(f, most, beta)
	return probePlan{left, s.needed(f, most, beta, left)}
}

// more returns how many more probes to take, for at most so many in all: as many as are seen to
// settle the posterior, or all where these do not but leave a tenth less open.
func (s *bounding) more(f *deflation, p probePlan, most int) int {
	if p.need <= most {
		return max(0, p.need-f.probes)
	}
	if s.excess(p.left) < s.excess(s.uncertainty)-little {
		return max(0, most-f.probes)
	}
	return 0
}

// little is by how much the logarithm of what is open has to fall for probes that do not settle
// the posterior: a tenth.
const little = 0.1

// probe narrows the bounds by so many more probes.
func (s *bounding) probe(ctx context.Context, f *deflation, count int, beta float64) error {
	if err := f.probe(ctx, count); err != nil {
		return err
	}
	s.out.intersect(f.bounds(float64(f.probes), beta))
	s.assess(0)
	s.least(f, beta)
	return nil
}

// least notes what exact norms would leave open, because of the error that A declares. Coarse
// products are taken only where that is far below the goal.
func (s *bounding) least(f *deflation, beta float64) {
	if s.cError == 0 || linop.Err(f.a) > linop.Err(s.A) {
		return
	}
	u := s.foreseen(f, math.Inf(1), beta, linop.Err(s.A))
	s.leastTotal, s.leastOdds = math.Exp(u.logTotal), u.odds
}

// forecast returns what as many probes in all would leave open, as far as those made so far
// tell.
func (s *bounding) forecast(f *deflation, probes int, beta float64) uncertainty {
	return s.foreseen(f, float64(probes), beta, linop.Err(f.a))
}

// foreseen is forecast for products of a given error.
func (s *bounding) foreseen(f *deflation, probes, beta, e float64) (u uncertainty) {
	norms := f.boundsWithin(probes, beta, e)
	for i, exact := range s.exact {
		if exact {
			norms.N[i], norms.Low[i], norms.High[i] = s.out.N[i], s.out.Low[i], s.out.High[i]
		}
	}
	low, high := s.e.weightBounds(s.c, norms, s.cError, s.logPrior)
	u.measure(s.e.weights(s.c, norms.N, s.logPrior), low, high, s.logZ)
	return u
}

// excess returns the logarithm of how far the error of the probabilities is above its goal or,
// where exact norms did not help, that of the log odds of the first two.
func (s *bounding) excess(u uncertainty) float64 {
	total := u.logTotal - s.totalGoal()
	if s.done == 0 {
		return total
	}
	return max(total, math.Log(u.odds/s.oddsGoal()))
}

// needed returns the number of probes, at most a given one that leaves what is left, that is
// seen to settle the posterior, with a tenth to spare; a larger number where none does.
func (s *bounding) needed(f *deflation, most int, beta float64, left uncertainty) int {
	switch {
	case s.excess(s.uncertainty) <= 0:
		return f.probes
	case s.excess(left) > -little:
		return most + 1
	}
	low, high := f.probes/probeWidth, (most+probeWidth-1)/probeWidth // in blocks
	for high-low > 1 {
		if mid := (low + high) / 2; s.excess(s.forecast(f, mid*probeWidth, beta)) <= -little {
			high = mid
		} else {
			low = mid
		}
	}
	return min(most, high*probeWidth)
}

// peaks computes up to so many norms in all exactly, some at a time, as long as that is
// worthwhile.
func (s *bounding) peaks(ctx context.Context, atATime, budget int) error {
	s.assess(budget)
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
		s.assess(budget)
	}
	return nil
}

// picks returns up to k nodes whose norms to compute exactly, none where that is not
// worthwhile: those of the largest shares of the error where at most so many account for half
// of it, else those that may be the likeliest.
func (s *bounding) picks(k, most int, oddsBefore float64) []int {
	switch {
	case s.concentrated(most):
		return s.candidates[:min(k, len(s.candidates))]
	case s.unclear(oddsBefore):
		return largest(s.high, s.exact, min(k, probeWidth))
	}
	return nil
}
