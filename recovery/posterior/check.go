// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

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

// checker simulates.
type checker struct {
	d measurement.Data
	candidates
	visible *mat.Dense
	seed    uint64
	quick   *quickEvidence // of trials on many nodes; nil: that of the measurements
}

func newChecker(ctx context.Context, d measurement.Data, opts CheckOptions) (*checker, error) {
	c, norms, logPrior, err := sufficient(ctx, d, opts.Options)
	if err != nil {
		return nil, err
	}
	if m := len(d.Y); opts.Visible != nil && opts.Visible.RawMatrix().Cols != m {
		return nil, fmt.Errorf("%w: directions among %d measurements, want %d", ErrInvalid, opts.Visible.RawMatrix().Cols, m)
	}
	k := &checker{d: d, candidates: candidates{newEvidence(opts.Amplitude), norms.N, logPrior}, visible: opts.Visible, seed: opts.Seed}
	if len(c) > exactOrder {
		k.quick = newQuickEvidence(k.candidates)
	}
	return k, nil
}

// presence returns the log evidence of one source against none from c = Aᵀy.
func (k *checker) presence(c []float64) float64 {
	return logSum(k.e.weights(c, k.norms, k.logPrior))
}
