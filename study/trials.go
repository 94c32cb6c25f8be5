// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	workers "github.com/graphcloak/graphcloak/internal/parallel"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph/emd"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

func (s *evaluator) newSimulation(ctx context.Context, p *privacy.Plan) (*simulation, error) {
	keyed := *p
	keyed.Randomness = privacy.EscrowRandomness
	r := &simulation{evaluator: s, plan: &keyed}
	var sigmas []float64
	for _, x := range p.Sensors {
		r.nodes, r.u, sigmas = append(r.nodes, x.Node), append(r.u, 1/(x.Sigma()*x.Sigma())), append(sigmas, x.Sigma())
	}
	var err error
	in := analyst.Measurements{Nodes: r.nodes, Values: make([]float64, len(r.nodes)), Sigmas: sigmas, Clip: &keyed.Clip}
	if r.whitened, err = s.model.Operator.Whiten(ctx, in); err != nil {
		return nil, err
	}
	if s.opts.Denoise {
		if err := r.whitened.ComputeSpectrum(ctx, s.opts.Recover.Rule); err != nil {
			return nil, err
		}
	}
	var estimated bool
	r.norms, estimated, err = s.normsOf(ctx, r.whitened.Data, sigmas, s.opts.Seed)
	s.estimated = s.estimated || estimated
	if err != nil {
		return nil, err
	}
	return r, r.addMoments(ctx, in)
}

// run simulates every trial.
func (r *simulation) run(ctx context.Context, stage string) ([]Trial, error) {
	sources, amplitudes := r.draw(r.opts.Trials)
	trials := make([]Trial, len(sources))
	return trials, r.runFrom(ctx, stage, trials, 0, sources, amplitudes)
}

// runFrom simulates the trials from one on, of all whose sources are given.
func (r *simulation) runFrom(ctx context.Context, stage string, trials []Trial, from int, sources []int, amplitudes []float64) error {
	for at := from; at < len(trials); at += r.blockSize {
		r.model.Progress(stage, int64(at), int64(len(trials)))
		end := min(at+r.blockSize, len(trials))
		if err := r.block(ctx, trials[at:end], at, sources[at:end], amplitudes[at:end]); err != nil {
			return err
		}
	}
	return nil
}

// block simulates the trials first, first+1, …: two products for all of them where τ is known.
func (r *simulation) block(ctx context.Context, trials []Trial, first int, sources []int, amplitudes []float64) error {
	n, k := r.model.Graph.Order(), len(trials)
	x, y := make([]float64, n*k), make([]float64, n*k)
	truth := make([][]int, k)
	for j, i := range sources {
		truth[j] = r.world.excite(x, k, j, first+j, i, amplitudes[j])
	}
	if err := r.diffuse(ctx, y, x, k, first); err != nil {
		return err
	}
	clear(x)
	values := make([][]float64, k)
	err := parallel(ctx, k, func(j int) error {
		values[j] = make([]float64, len(r.nodes))
		for s, i := range r.nodes {
			values[j][s] = y[i*k+j]
		}
		r.world.disturb(values[j], r.plan.Clip, first+j)
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.release(ctx, values, first); err != nil {
		return err
	}
	workers.Rows(len(r.nodes), 2*k, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			for j := range k {
				x[r.nodes[s]*k+j] = r.u[s] * values[j][s]
			}
		}
	})
	c, err := r.products(ctx, x, k)
	if err != nil {
		return err
	}
	return parallel(ctx, k, func(j int) error { return r.score(ctx, &trials[j], truth[j], c[j], values[j]) })
}

// releaseValues bounds the readings that are released together, of 32 bytes each: 16 MiB, and a second or two of one processor
// until the end of a context is seen.
const releaseValues = 1 << 19

// release makes of the readings of the trials first, first+1, … what is released.
func (r *simulation) release(ctx context.Context, readings [][]float64, first int) error {
	if r.commonNoise {
		workers.Each(len(readings), func(j int) { r.addCommonNoise(readings[j], first+j) })
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
func (r *simulation) addCommonNoise(readings []float64, trial int) {
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

// score recovers one trial, c = Mᵀ diag(u) ỹ of each moment, and compares with its sources: the first of
// them is the trial's, and any of them is right.
func (r *simulation) score(ctx context.Context, t *Trial, truth []int, c []transposed, values []float64) error {
	post, err := r.posterior(ctx, c, values, r.opts.Recover.Amplitude)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	rank := community.Rank(post.Probability, r.part)
	t.Named, t.Confidence, t.Source = rank[0].Community, min(1, rank[0].Probability), -1
	t.Right = slices.ContainsFunc(truth, func(i int) bool { return r.part.Labels[i] == t.Named })
	if r.brief {
		return nil
	}
	credible := post.Credible()
	t.Covered = slices.ContainsFunc(truth, func(i int) bool { return slices.Contains(credible, i) })
	t.CredibleSetSize = len(credible)
	t.KnownMassSetSize = t.CredibleSetSize
	if r.opts.Recover.Amplitude != posterior.UnitAmplitude {
		known, err := r.posterior(ctx, c, values, posterior.UnitAmplitude)
		if err != nil {
			return fmt.Errorf("evaluate: %w", err)
		}
		t.KnownMassSetSize = len(known.Credible())
	}
	chance := r.part.Sums(r.prior)
	var rep report.Report
	for _, s := range rank {
		rep.Communities = append(rep.Communities,
			report.Community{CommunityID: s.Community, Prior: chance[s.Community], Probability: min(1, s.Probability)})
	}
	if r.detection != nil {
		if t.Detected, err = r.detected(ctx, post, c, values); err != nil {
			return fmt.Errorf("evaluate: %w", err)
		}
		rep.Presence = &report.Presence{Detected: t.Detected}
	}
	t.Answered = rep.StandsOut()
	var d []float64
	if len(truth) > 0 {
		t.Source = truth[0]
		d = emd.Lengths(r.model.Graph, t.Source)
		t.Distance, t.Elsewhere = emd.ToNode(d, post.Probability)
	}
	if !r.opts.Denoise {
		return nil
	}
	return r.scoreDenoised(ctx, t, truth, values, d)
}

// scoreDenoised recovers one trial by Basis Pursuit Denoising.
func (r *simulation) scoreDenoised(ctx context.Context, t *Trial, truth []int, values, d []float64) error {
	result, _, err := r.whitened.WithValues(values).Denoise(ctx, r.opts.Recover.Rule, nil)
	if err != nil {
		return err
	}
	t.Denoised = &DenoisedTrial{Status: result.Status, Gap: result.Gap}
	if result.Status == recovery.Infeasible || floats.Sum(result.F) == 0 {
		return nil
	}
	t.Denoised.Answered = true
	if len(truth) == 0 {
		return nil
	}
	first := community.Rank(result.F, r.part)[0].Community
	t.Denoised.Right = slices.ContainsFunc(truth, func(i int) bool { return r.part.Labels[i] == first })
	t.Denoised.Distance, _ = emd.ToNode(d, result.F)
	return nil
}
