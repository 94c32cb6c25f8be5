// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// CheckOptions steer [NewChecker]; zero values are the defaults in brackets.
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
	// 1/(FitTrials + 1): a bound by the exact parts. Where A is known by products, there are no trials, and it is three times the
	// least of three tails of the residual, those of noise alone.
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

func newChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*checker, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts.Options)
	if err != nil {
		return nil, err
	}
	if m := len(d.Y); opts.Visible != nil && opts.Visible.RawMatrix().Cols != m {
		return nil, fmt.Errorf("%w: directions among %d measurements, want %d", ErrInvalid, opts.Visible.RawMatrix().Cols, m)
	}
	k := &checker{d: d, e: newEvidence(opts.Amplitude), norms: norms.N, logPrior: logPrior, visible: opts.Visible, seed: opts.Seed}
	k.coarse = linop.Coarse(d.A, trialError)
	if e := linop.Err(k.coarse); e > linop.Err(d.A) {
		k.off = e + linop.Err(d.A)
	}
	if len(c) > exactOrder {
		k.quick = newQuickEvidence(k.e, k.norms, logPrior)
	}
	return k, nil
}

// presence returns the log evidence of one source against none from c = Aᵀy.
func (k *checker) presence(c []float64) float64 {
	w := k.e.logs(c, k.norms)
	floats.Add(w, k.logPrior)
	return logSum(w)
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
			sources[j] = k.best(c, 1)[0]
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
