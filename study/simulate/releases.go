// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/privacy"
)

// Releases are simulated under one plan.
type Releases struct {
	Trials []Trial // so far, in their order

	recoverer
	u []float64 // 1/σ² of each sensor
}

// Under prepares the simulation of a plan. It returns [plan.ErrMemory].
func (s *Simulator) Under(ctx context.Context, p *privacy.Plan) (*Releases, error) {
	keyed := *p
	keyed.Randomness = privacy.EscrowRandomness
	r := &Releases{recoverer: recoverer{Simulator: s, plan: &keyed, threshold: math.Inf(-1)}}
	in := analyst.Measurements{Values: make([]float64, len(p.Sensors)), Clip: &keyed.Clip}
	for _, x := range p.Sensors {
		in.Nodes, in.Sigmas, r.u = append(in.Nodes, x.Node), append(in.Sigmas, x.Sigma()), append(r.u, 1/(x.Sigma()*x.Sigma()))
	}
	r.nodes = in.Nodes
	var err error
	if r.whitened, err = s.model.Operator.Whiten(ctx, in); err != nil {
		return nil, err
	}
	norms, estimated, err := columnNorms(ctx, r.whitened.Data, in.Sigmas, s.opts.Seed)
	s.Estimated = s.Estimated || estimated
	if err != nil {
		return nil, err
	}
	if err := r.addProcesses(ctx, in, norms); err != nil || s.opts.Common {
		return r, err
	}
	return r, r.setThreshold(ctx)
}

// Run simulates until there are n trials.
func (r *Releases) Run(ctx context.Context, stage string, n int) error {
	for at := len(r.Trials); at < n; at = len(r.Trials) {
		r.model.Progress(stage, int64(at), int64(n))
		block, err := r.block(ctx, at, min(r.blockSize, n-at))
		if err != nil {
			return err
		}
		r.Trials = append(r.Trials, block...)
	}
	return nil
}

// Event is something that happened: where it began, and what was read, one value for each row of M.
type Event struct {
	Source   int
	Readings []float64
}

// RunEvents releases the readings of past events with fresh noise, in place of simulated sources, and recovers from each. The
// errors are those of [privacy.Plan.PerturbEach].
func (r *Releases) RunEvents(ctx context.Context, stage string, events []Event) error {
	for part := range slices.Chunk(events, r.blockSize) {
		r.model.Progress(stage, int64(len(r.Trials)), int64(len(events)))
		truth, values := make([][]int, len(part)), make([][]float64, len(part))
		for j, e := range part {
			truth[j] = []int{e.Source}
			for _, i := range r.nodes {
				values[j] = append(values[j], e.Readings[i])
			}
		}
		block, err := r.recover(ctx, len(r.Trials), truth, values)
		if err != nil {
			return err
		}
		r.Trials = append(r.Trials, block...)
	}
	return nil
}

// block simulates k trials from the first on: two products for all of them where τ is known.
func (r *Releases) block(ctx context.Context, first, k int) ([]Trial, error) {
	rows, n := r.process.Dims()
	x, y := make([]float64, n*k), make([]float64, rows*k)
	truth, values := make([][]int, k), make([][]float64, k)
	for j := range truth {
		truth[j] = r.excite(x, k, j, first+j)
	}
	if err := r.diffuse(ctx, y, x, k, first); err != nil {
		return nil, err
	}
	sensors := r.model.Operator.SensorNodes(r.nodes)
	parallel.Each(k, func(j int) {
		values[j] = make([]float64, len(r.nodes))
		for s, i := range r.nodes {
			values[j][s] = y[i*k+j]
		}
		r.opts.Scenario.disturb(values[j], sensors, r.plan.Clip, r.opts.Seed, first+j)
	})
	return r.recover(ctx, first, truth, values)
}

// recover releases the readings of the trials first, first+1, … and recovers from them.
func (r *Releases) recover(ctx context.Context, first int, truth [][]int, values [][]float64) ([]Trial, error) {
	if err := r.release(ctx, values, first); err != nil {
		return nil, err
	}
	k := len(values)
	rows, _ := r.process.Dims()
	y := make([]float64, rows*k)
	parallel.Rows(len(r.nodes), 2*k, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			for j := range k {
				y[r.nodes[s]*k+j] = r.u[s] * values[j][s]
			}
		}
	})
	c, err := r.products(ctx, y, k)
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, k)
	err = each(ctx, k, func(j int) (err error) {
		if trials[j], err = r.score(ctx, truth[j], c[j], values[j]); err != nil {
			err = fmt.Errorf("evaluate: %w", err)
		}
		return err
	})
	return trials, err
}

// diffuse lets the sources of the trials first, first+1, … flow, a column each of k: y = Mx. Where the plan declares a range of τ,
// that of a trial is drawn from it evenly on a logarithmic scale, before a scenario changes it.
func (r *Releases) diffuse(ctx context.Context, y, x []float64, k, first int) error {
	taus := r.plan.Uncertainty.Tau()
	if !taus.IsWide() {
		return r.process.Apply(ctx, y, false, x, k)
	}
	n := len(x) / k
	return each(ctx, k, func(j int) error {
		at := rand.New(rand.NewPCG(r.opts.Seed^0x7f4a7c159e3779b9, uint64(first+j))).Float64()
		tau := taus.From * math.Pow(taus.To/taus.From, at)
		d, err := r.diffusion.WithTau(r.diffusion.Tau() / r.model.Tau.Value() * tau)
		if err != nil {
			return fmt.Errorf("scenario %s: %w", r.opts.Scenario.Name, err)
		}
		from, to := make([]float64, n), make([]float64, n)
		for i := range from {
			from[i] = x[i*k+j]
		}
		if err := d.Apply(ctx, to, false, from, 1); err != nil {
			return err
		}
		for i, v := range to {
			y[i*k+j] = v
		}
		return nil
	})
}

// each calls f for 0 … n−1 on every processor and returns the first error by number.
func each(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	parallel.Each(n, func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = f(i)
		}
	})
	if k := slices.IndexFunc(errs, func(err error) bool { return err != nil }); k >= 0 {
		return errs[k]
	}
	return nil
}

// releaseValues bounds the readings that are released together, of 32 bytes each: 16 MiB, and a second or two of one processor
// until the end of a context is seen.
const releaseValues = 1 << 19

// release makes of the readings of the trials first, first+1, … what is released.
func (r *Releases) release(ctx context.Context, readings [][]float64, first int) error {
	if r.opts.Common {
		parallel.Each(len(readings), func(j int) { r.addCommonNoise(readings[j], first+j) })
		return nil
	}
	for part := range slices.Chunk(readings, max(1, releaseValues/max(1, len(r.nodes)))) {
		if err := ctx.Err(); err != nil {
			return err
		}
		ids := make([]string, len(part))
		for j := range ids {
			ids[j] = "trial-" + strconv.Itoa(first+j)
		}
		releases, err := r.plan.PerturbEach(part, ids, r.noise)
		if err != nil {
			return err
		}
		for j, x := range releases {
			part[j] = x.Values()
		}
		first += len(part)
	}
	return nil
}

// addCommonNoise adds noise whose standard normal numbers are the same under every plan.
func (r *Releases) addCommonNoise(readings []float64, trial int) {
	random := rand.New(rand.NewPCG(^r.opts.Seed, uint64(trial))) // not the stream of its source
	next := 0
	for s, i := range r.nodes {
		var x float64
		for ; next <= i; next++ {
			x = random.NormFloat64()
		}
		readings[s] += x * r.plan.Sensors[s].Sigma()
	}
}
