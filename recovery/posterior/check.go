// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// CheckOptions steer [NewCheck]; zero values are the defaults in brackets.
type CheckOptions struct {
	Options
	Trials int    // simulated measurements of each kind [999, fewer where A is large]
	Seed   uint64 // the same seed gives the same bits
	// FalseAlarm is a p-value that the trials are to show, as far as up to 9999 of them do;
	// 0: none in particular.
	FalseAlarm float64
	// Visible holds, as rows, orthonormal directions of the measurements that the noise
	// lets one see; nil: none is looked at by itself.
	Visible *mat.Dense
	// Background is what a uniform background of 1 adds to the measurements, that the fit is to be held against; nil: it is
	// not. It counts where entries of A are held.
	Background []float64
}

// Check says whether there is a source at all, and whether one source explains the
// measurements. Both are tests against measurements that are simulated with the same A
// and noise: their p-values are multiples of 1/(Trials + 1), or less.
type Check struct {
	Node      int // of the single source of the largest likelihood
	Amplitude float64
	Residual  float64 // ‖y − aAe_i‖² for it
	// Presence is the test of no source.
	Presence
	// Fit is the p-value of a single source. Where entries of A are held, it is at most α with a probability of at most α for a
	// source that the prior draws, be its amplitude 1 or uniform: it is the largest of those against trials of each
	// kind, FitTrials of each, of what [judge] measures. Where no trial is as large, it may be less than
	// 1/(FitTrials + 1): a bound by the exact parts. Where A is known by products, the trials are of
	// the source that fits best, and the p-value at most the least of three tails of the residual, times
	// three, where none fits as poorly.
	Fit       float64
	FitTrials int
}

// checkWork bounds the products of a check: trials times entries of A. Rare false alarms
// take more trials than usual, up to ten times as many.
const (
	checkWork = 1e10
	rarely    = 10
)

// trials returns how many are simulated unless it is said.
func (o CheckOptions) trials(a linop.Operator) int {
	if o.Trials > 0 {
		return o.Trials
	}
	m, n := a.Dims()
	usual := 99.0
	if linop.HoldsEntries(a) {
		usual = min(999, max(199, math.Floor(checkWork/float64(m)/float64(n))))
	}
	if o.FalseAlarm == 0 {
		return int(usual)
	}
	least := math.Ceil(1/o.FalseAlarm-1e-9) - 1
	return int(max(usual, min(least, rarely*(usual+1)-1)))
}

// trialError is what products for trials may be off by, in units of the noise.
const trialError = 1e-6

// checker simulates. What its products are off by counts against the measurements.
type checker struct {
	d        measurement.Data
	coarse   linop.Operator // A for trials
	off      float64        // a bound on ‖coarse − A‖₂; 0: it is A
	e        evidence
	norms    []float64
	logPrior []float64
	visible  *mat.Dense
	seed     uint64
	quick    *quickEvidence // of trials on many nodes; nil: that of the measurements
}

// newChecker returns with it c = Aᵀy.
func newChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*checker, []float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts.Options)
	if err != nil {
		return nil, nil, err
	}
	if m := len(d.Y); opts.Visible != nil && opts.Visible.RawMatrix().Cols != m {
		return nil, nil, fmt.Errorf("%w: directions among %d measurements, want %d", ErrInvalid, opts.Visible.RawMatrix().Cols, m)
	}
	k := &checker{d: d, e: newEvidence(opts.Amplitude), norms: norms.N, logPrior: logPrior, visible: opts.Visible, seed: opts.Seed}
	k.coarse = linop.Coarse(d.A, trialError)
	if e := linop.Err(k.coarse); e > linop.Err(d.A) {
		k.off = e + linop.Err(d.A)
	}
	if len(c) > exactOrder {
		k.quick = newQuickEvidence(k.e, k.norms, logPrior)
	}
	return k, c, nil
}

// NewCheck simulates measurements without a source, and with one. The log odds of a source against none
// are compared with those of the former, and with the latter what speaks against a single source.
func NewCheck(ctx context.Context, d measurement.Data, opts CheckOptions) (*Check, error) {
	return NewChecks(ctx, func(yield func(measurement.Data, error) bool) { yield(d, nil) }, opts)
}

// NewChecks tests where any of several operators may have made the measurements. Whether
// there is a source is asked as [NewPresence] does. The p-value of a single source is the
// largest under any of them, with the source that it belongs to: what is improbable under all is
// so under the one that made them. data yields the same measurements with each operator.
// It returns the errors that data yields, and [ErrInvalid].
func NewChecks(ctx context.Context, data iter.Seq2[measurement.Data, error], opts CheckOptions) (*Check, error) {
	var out *Check
	p, err := overOperators(ctx, data, opts, func(k *checker, c, null []float64) error {
		now, err := k.test(ctx, c, null, opts)
		if err == nil && (out == nil || now.Fit > out.Fit) {
			out = now
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Presence = *p
	return out, nil
}

// test tests a single source, and adds, to the logarithms null, the odds of a source in each trial without one.
func (k *checker) test(ctx context.Context, c, null []float64, opts CheckOptions) (*Check, error) {
	var fit *fitting // nil: by what the model is held against
	if !linop.HoldsEntries(k.d.A) {
		fit = k.fit(c, len(null))
	}
	err := k.simulate(ctx, len(null), opts.Progress, func(at int, b *noiseBlock) {
		k.addNull(null[at:], b)
		if fit != nil {
			fit.add(k, b)
		}
	})
	if err != nil || fit != nil {
		return fit.check(), err
	}
	j, err := newJudge(k, opts)
	if err != nil {
		return nil, err
	}
	law, err := j.law(ctx, opts.fitTrials(k.d.A), opts.Progress)
	if err != nil {
		return nil, err
	}
	return law.check(j.measure(k.d.Y, 1)[0]), nil
}

// fitting is the test of a single source by the residual of the best one.
type fitting struct {
	Check
	mean, shift []float64 // A·a·e_i of the best source, and Aᵀ of it
	worst       float64   // the least tail of the measurements
	trials      int
	poor        int         // trials that fit as poorly
	columns     bestColumns // of the best sources
}

// fit returns the test of the measurements, c being Aᵀ of them.
func (k *checker) fit(c []float64, trials int) *fitting {
	m, n := k.d.A.Dims()
	f := &fitting{mean: make([]float64, m), shift: make([]float64, n), trials: trials, columns: newBestColumns(k.d.A, k.coarse)}
	best := k.best(c, nil, 1)[0]
	f.Node, f.Amplitude = best.node, best.amplitude
	linop.ColumnsTo(k.d.A, f.mean, []int{f.Node})
	floats.Scale(f.Amplitude, f.mean)
	rest := slices.Clone(k.d.Y)
	floats.Sub(rest, f.mean)
	left := k.residuals(rest, 1)[0]
	f.Residual, f.worst = left.square, k.tail(left)
	k.d.A.MulVecTo(f.shift, true, f.mean)
	return f
}

// leastTail bounds from below the tail of what is within off of the residuals: for the norm of
// all or some of them, −log P(χ²_m > r²) changes by at most r·dr, and for the largest x of them by at
// most (x + 1)dx.
func (k *checker) leastTail(r residual) float64 {
	p := k.tail(r)
	if k.off > 0 {
		p *= math.Exp(-k.off * (math.Sqrt(r.square) + k.off + 1))
	}
	return p
}

// pValue is the share of trials, of all and of the measurements, that fit as poorly.
func (f *fitting) pValue() float64 { return float64(f.poor+1) / float64(f.trials+1) }

// check returns the test with its p-value; nil for none.
func (f *fitting) check() *Check {
	if f == nil {
		return nil
	}
	f.Fit, f.FitTrials = f.pValue(), f.trials
	if f.poor == 0 {
		f.Fit = min(f.Fit, 3*f.worst)
	}
	return &f.Check
}

// share returns the p-value of x among simulated values.
func share(simulated []float64, x float64, extreme func(simulated, x float64) bool) float64 {
	count := 1
	for _, v := range simulated {
		if extreme(v, x) {
			count++
		}
	}
	return float64(count) / float64(len(simulated)+1)
}

// presence returns the log evidence of one source against none from c = Aᵀy.
func (k *checker) presence(c []float64) float64 {
	w := k.e.logs(c, k.norms)
	floats.Add(w, k.logPrior)
	return logSum(w)
}

// Residuals returns, of each node, the least ‖y − aAe_i‖² of a single source there; +∞ where the
// prior allows none.
func Residuals(ctx context.Context, d measurement.Data, opts Options) ([]float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	e, square := newEvidence(opts.Amplitude), floats.Dot(d.Y, d.Y)
	for i, v := range c {
		a := e.likeliest(v, norms.N[i])
		c[i] = math.Max(0, square-2*a*v+a*a*norms.N[i])
		if math.IsInf(logPrior[i], -1) {
			c[i] = math.Inf(1)
		}
	}
	return c, nil
}

// likeliest returns the amplitude of the largest likelihood that the prior allows.
func (e evidence) likeliest(c, n float64) float64 {
	switch {
	case e.unit == 1 || c >= n:
		return 1
	case c <= 0:
		return 0
	}
	return c / n
}

// LeastResidual returns a least ‖y − Σ a_k A z_k‖² over as many sources as there are nodes
// given, from which the search starts: each source is moved, in turn, to where it explains
// most beside the others, until none moves.
func LeastResidual(ctx context.Context, d measurement.Data, nodes []int, opts Options) (float64, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts)
	if err != nil {
		return 0, err
	}
	k := &checker{e: newEvidence(opts.Amplitude), norms: norms.N, logPrior: slices.Clone(logPrior)}
	rest, sources, columns := slices.Clone(d.Y), make([]bestSource, len(nodes)), make([][]float64, len(nodes))
	place := func(j int) {
		k.logPrior[sources[j].node] = math.Inf(-1)
		floats.AddScaled(rest, -sources[j].amplitude, columns[j])
	}
	for j, z := range nodes {
		columns[j] = make([]float64, len(rest))
		linop.ColumnsTo(d.A, columns[j], []int{z})
		sources[j] = bestSource{node: z, amplitude: k.e.likeliest(floats.Dot(columns[j], rest), norms.N[z])}
		place(j)
	}
	least := floats.Dot(rest, rest)
	for range 50 {
		for j := range nodes {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			k.logPrior[sources[j].node] = logPrior[sources[j].node]
			floats.AddScaled(rest, sources[j].amplitude, columns[j])
			d.A.MulVecTo(c, true, rest)
			sources[j] = k.best(c, nil, 1)[0]
			linop.ColumnsTo(d.A, columns[j], []int{sources[j].node})
			place(j)
		}
		now := floats.Dot(rest, rest)
		if now >= least-1e-9 {
			return min(now, least), nil
		}
		least = now
	}
	return least, nil
}

// ResidualTail returns the probability that noise alone is as large: P(χ²_m ≥ residual).
// No fit is worse than the truth's, so it bounds the p-value of a least residual.
func ResidualTail(residual float64, m int) float64 {
	return mathext.GammaIncRegComp(float64(m)/2, residual/2)
}
