// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/sensitivity"
)

// ErrTolerance says that no noise was found under which the answers withstand as many lying sensors
// as [Allocation] asks for.
var ErrTolerance = errors.New("graphcloak: so many lying sensors cannot be tolerated")

// toleranceSources is the number of places whose answers are attacked.
const toleranceSources = 12

// checkTolerance refuses what no noise can give.
func (m *Model) checkTolerance(opts PlanOptions) error {
	k, n := opts.Allocation.TolerateFaulty, m.Graph.Order()
	switch {
	case k == 0:
		return nil
	case k < 0 || k >= len(m.Sensors):
		return fmt.Errorf("%w: %d of %d sensors, want at least 0 and fewer than there are", ErrTolerance, k, len(m.Sensors))
	case n > analyst.DenseLimit || opts.Guarantee != privacy.Joint:
		return fmt.Errorf("%w: it is known for the joint guarantee and up to %d nodes", ErrTolerance, analyst.DenseLimit)
	}
	return nil
}

// tolerant returns weights for which at least half of the answers withstand the attack of k liars:
// the allocation's, or as little uniform noise mixed in as it takes, in quarters. A mixture of
// weights keeps the guarantee, for the constraints are linear in them; it is certified
// all the same. scale is σ at sensitivity 1.
func (m *Model) tolerant(ctx context.Context, labels []int, weights []float64, b sensitivity.Bracket, uniform *privacy.Plan, scale float64, opts PlanOptions, seed [32]byte) ([]float64, sensitivity.Bracket, error) {
	k := opts.Allocation.TolerateFaulty
	even := 1 / (uniform.Sensitivity.Upper * uniform.Sensitivity.Upper)
	most := 0
	for _, share := range []float64{0, .25, .5, .75, 1} {
		u, bracket := make([]float64, len(m.Sensors)), b
		for s := range u {
			u[s] = share*even + (1-share)*weights[s]/(b.Upper*b.Upper)
		}
		if share > 0 {
			var err error
			if bracket, err = m.bound(ctx, opts.Alpha, u, opts.Uncertainty, m.sensitivityOptions(opts, seed)); err != nil {
				return nil, b, certified(err)
			}
		} else {
			u = weights
		}
		held, err := m.withstanding(ctx, labels, u, scale*bracket.Upper, uniform.Clip, k)
		if err != nil || 2*held >= toleranceSources {
			return u, bracket, err
		}
		most = max(most, held)
	}
	return nil, b, fmt.Errorf("%w: of %d simulated answers at most %d are right and withstand %d lying sensors, and half of them have to", ErrTolerance, toleranceSources, most, k)
}

// withstanding counts the sources of amplitude 1, spread over the nodes, whose answer from readings
// without noise is right and withstands k liars under weights u at σ = scale/√u.
func (m *Model) withstanding(ctx context.Context, labels []int, u []float64, scale float64, clip privacy.Interval, k int) (held int, err error) {
	in := analyst.Measurements{}
	o := posterior.Options{Prior: m.Prior, Faults: posterior.Faults{Rate: analyst.DefaultFaultRate}}
	for s, v := range u {
		if v > 0 {
			sigma := scale / math.Sqrt(v)
			in.Nodes, in.Sigmas, in.Values = append(in.Nodes, m.Sensors[s]), append(in.Sigmas, sigma), append(in.Values, 0)
			o.Faults.Low, o.Faults.High = append(o.Faults.Low, clip.Lo/sigma), append(o.Faults.High, clip.Hi/sigma)
		}
	}
	if k >= len(in.Nodes) {
		return 0, nil
	}
	w, err := m.operator.Whiten(ctx, in)
	if err != nil {
		return 0, err
	}
	n := m.Graph.Order()
	for q := range toleranceSources {
		m.Progress("attack answers", int64(q), toleranceSources)
		source := (2*q + 1) * n / (2 * toleranceSources)
		linop.ColumnsTo(w.Data.A, w.Data.Y, []int{source})
		p, err := posterior.New(ctx, w.Data, o)
		if err != nil {
			return 0, err
		}
		groups, err := p.Groups(labels)
		if err != nil {
			return 0, err
		}
		if floats.MaxIdx(groups) != labels[source] {
			continue
		}
		ok, err := posterior.Withstands(ctx, w.Data, o, labels, k)
		if err != nil {
			return 0, err
		}
		if ok {
			held++
		}
	}
	return held, nil
}

// tolerateUniform refuses uniform noise that does not withstand as many liars as asked for.
func (m *Model) tolerateUniform(ctx context.Context, p *Plan, opts PlanOptions) error {
	part, err := m.Partition(ctx)
	if err != nil {
		return err
	}
	u := make([]float64, len(m.Sensors))
	floats.AddConst(1, u)
	k := opts.Allocation.TolerateFaulty
	held, err := m.withstanding(ctx, part.Labels, u, p.Sigma(), p.Clip, k)
	if err == nil && 2*held < toleranceSources {
		err = fmt.Errorf("%w: of %d simulated answers %d are right and withstand %d lying sensors, and half of them have to", ErrTolerance, toleranceSources, held, k)
	}
	return err
}
