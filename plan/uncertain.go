// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// rounds is the most operators whose constraints are added to an allocation's.
const rounds = 6

// worstExcess is how far the operators of the set may exceed those that an allocation knows
// before the worst of them is added.
const worstExcess = 1.02

// optimize allocates noise and certifies it. Where the process is uncertain, the
// operator under which the allocation is least private is added to its constraints,
// until none is much worse.
func (m *Model) optimize(ctx context.Context, labels []int, noise float64, opts Options,
	seed [32]byte,
) (*allocation.Result, sensitivity.Bracket, error) {
	model, a := m.sensitivityModel(opts.Alpha), opts.Allocation
	set := m.uncertain(m.uncertainty())
	o := allocation.Options{
		Noise: noise, MaxSensors: a.MaxSensors, Prior: m.Prior, Time: a.Time, Progress: m.opts.Progress,
	}
	operator := m.operator()
	for _, other := range m.listed.operators {
		o.Worlds = append(o.Worlds, other)
	}
	for {
		best, err := allocation.Optimize(ctx, model, operator, labels, o)
		if err != nil {
			return nil, sensitivity.Bracket{}, fmt.Errorf("allocate noise: %w", err)
		}
		options := m.sensitivityOptions(opts, seed)
		if !m.isUncertain() || model.Given != nil {
			b, err := m.bound(ctx, opts.Alpha, best.Weights, m.uncertainty(), options)
			return best, b, certified(err)
		}
		e, err := sensitivity.WorstCase(ctx, model, best.Weights, set, options)
		if err != nil || e.Lower <= worstExcess || len(o.Worlds) == rounds {
			return best, e.Bracket, certified(err)
		}
		d, err := m.member(ctx, set, e)
		if err != nil {
			return nil, sensitivity.Bracket{}, err
		}
		o.Worlds = append(o.Worlds, d)
	}
}

// operator is M with access to its rows.
func (m *Model) operator() allocation.Diffusion {
	if m.Operator.Given != nil {
		return m.Operator.Given
	}
	return m.Operator.Diffusion
}

// member is the operator of a set under which an allocation is least private.
func (m *Model) member(ctx context.Context, set sensitivity.Uncertainty, e sensitivity.Envelope) (*expm.Diffusion, error) {
	if e.Alternative < 0 {
		return m.Operator.Diffusion.WithTau(e.Tau)
	}
	return expm.New(ctx, set.Alternatives[e.Alternative], e.Tau, expm.Options{Method: expm.Eigen})
}

func certified(err error) error {
	if err != nil {
		return fmt.Errorf("certify sensitivity: %w", err)
	}
	return nil
}

// louder reports whether every sensor adds at least the noise of a uniform plan.
func louder(p *privacy.Plan, uniform float64) bool {
	for _, s := range p.Sensors {
		if s.Sigma() < uniform {
			return false
		}
	}
	return true
}
