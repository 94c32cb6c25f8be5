// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// CommunityOptions say where communities come from.
type CommunityOptions struct {
	Property string             // node property that names them; "": detect
	Detector community.Detector // nil: Leiden
}

// RecoverOptions steer the analyst's side; the zero value is the default.
type RecoverOptions struct {
	Communities   CommunityOptions
	Rule          recovery.Rule
	Amplitude     recovery.Amplitude
	PriorProperty string // node property proportional to the prior of a source; "": flat
}

// denseLimit is the order up to which M is held as a matrix for recovery, 8n²
// bytes.
const denseLimit = 6000

// operator returns M for the sensors of a release: a matrix where it is small,
// else products.
func (m *Model) operator(ctx context.Context, nodes []int) (linop.Operator, error) {
	if m.Graph.Order() > denseLimit {
		return linop.Rows(m.diffusion, nodes), nil
	}
	size := int64(len(nodes)) * int64(m.Graph.Order()) * 8
	if err := m.opts.guard("recovery", 3*size); err != nil {
		return nil, err
	}
	rows, err := m.diffusion.Rows(ctx, nodes)
	if err != nil {
		return nil, err
	}
	return matrix{linop.Dense{M: rows}, m.diffusion.Err()}, nil
}

// matrix is a dense approximation of M with its error.
type matrix struct {
	linop.Dense
	err float64
}

func (a matrix) Err() float64 { return a.err }

// Communities returns the partition that a report ranks.
func (m *Model) Communities(ctx context.Context, opts CommunityOptions) (community.Partition, error) {
	if opts.Property != "" {
		values, err := m.store.Labels(ctx, m.Graph, opts.Property)
		if err != nil {
			return community.Partition{}, fmt.Errorf("read communities: %w", err)
		}
		return community.FromStrings(m.Graph, values)
	}
	d := opts.Detector
	if d == nil {
		d = community.Leiden{}
	}
	return d.Detect(ctx, m.Graph)
}

// prior reads the prior property.
func (m *Model) prior(ctx context.Context, property string) ([]float64, error) {
	if property == "" {
		return nil, nil
	}
	p, err := m.store.Signal(ctx, m.Graph, property)
	if err != nil {
		return nil, fmt.Errorf("read prior: %w", err)
	}
	for i, v := range p {
		if math.IsNaN(v) {
			p[i] = 0
		}
	}
	return p, nil
}

// Recover computes the posterior, the ranking of the communities and f̂ from a
// release. The error is [recovery.ErrStalled], beside the report, where Basis
// Pursuit Denoising ended without a certificate.
func (m *Model) Recover(ctx context.Context, r *Release, opts RecoverOptions) (*report.Report, error) {
	if err := m.Matches(r.Plan()); err != nil {
		return nil, err
	}
	start := time.Now()
	partition, err := m.Communities(ctx, opts.Communities)
	if err != nil {
		return nil, err
	}
	rep := m.newReport(r, partition)
	rep.PreProcessingMillis = since(start)
	start = time.Now()
	a := analysis{model: m, release: r, opts: opts, partition: partition, report: rep}
	if err := a.run(ctx); err != nil && !errors.Is(err, recovery.ErrStalled) {
		return nil, err
	} else if err != nil {
		rep.Notes = append(rep.Notes, fmt.Sprintf("Basis Pursuit Denoising stopped without a certificate, at a gap of %.2g", *rep.BPDN.Gap))
		defer func() { rep.RecoveryMillis = since(start) }()
		return rep, err
	}
	rep.RecoveryMillis = since(start)
	return rep, nil
}

// analysis is one recovery.
type analysis struct {
	model     *Model
	release   *Release
	opts      RecoverOptions
	partition community.Partition
	report    *report.Report

	data recovery.Data
}

func (a *analysis) run(ctx context.Context) error {
	if err := a.whiten(ctx); err != nil {
		return err
	}
	posterior, err := a.posterior(ctx)
	if err != nil {
		return err
	}
	result, err := a.denoise(ctx)
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return err
	}
	a.fill(posterior, result)
	return err
}

// whiten scales the sensors to unit noise.
func (a *analysis) whiten(ctx context.Context) error {
	plan := a.release.Plan()
	op, err := a.model.operator(ctx, a.release.Nodes())
	if err != nil {
		return err
	}
	u := make([]float64, len(plan.Sensors))
	for k, s := range plan.Sensors {
		u[k] = 1 / (s.Sigma() * s.Sigma())
	}
	a.data, err = recovery.Whiten(op, a.release.Values(), u)
	return err
}

func (a *analysis) posterior(ctx context.Context) (*recovery.Posterior, error) {
	prior, err := a.model.prior(ctx, a.opts.PriorProperty)
	if err != nil {
		return nil, err
	}
	return a.data.Posterior(ctx, recovery.PosteriorOptions{Amplitude: a.opts.Amplitude, Prior: prior})
}

// denoise solves Basis Pursuit Denoising.
func (a *analysis) denoise(ctx context.Context) (*recovery.Result, error) {
	problem, ball, err := a.data.Problem(ctx, a.opts.Rule, a.model.spectrum(a.release))
	if err != nil {
		return nil, err
	}
	a.report.BPDN.Radius, a.report.BPDN.RadiusRule = ball.Radius, ball.Rule.String()
	solver := recovery.ColumnGeneration{Options: recovery.Options{
		Neighbors: a.model.Graph.Neighbors, Progress: a.model.opts.Progress,
	}}
	return solver.Solve(ctx, problem)
}

// spectrum returns the singular vectors of the whitened operator where they are
// known: all sensors, one σ, and an eigendecomposition of a symmetric L at hand.
func (m *Model) spectrum(r *Release) *recovery.Spectrum {
	sigma := r.Plan().Sigma()
	spec := m.diffusion.Spectrum()
	if sigma == 0 || spec == nil || m.laplacian.Similarity() != nil || len(r.Nodes()) < m.Graph.Order() {
		return nil
	}
	s := &recovery.Spectrum{Values: slices.Clone(spec.Decay(m.Tau)), Left: mat.DenseCopyOf(spec.Vectors().T())}
	floats.Scale(1/sigma, s.Values)
	return s
}

// fill puts the results into the report.
func (a *analysis) fill(p *recovery.Posterior, res *recovery.Result) {
	rep, g := a.report, a.model.Graph
	mass := make([]float64, a.partition.Count)
	if res.Status != recovery.Infeasible {
		mass = a.partition.Sums(res.F)
	}
	for _, s := range community.Rank(p.Probability, a.partition) {
		rep.Communities = append(rep.Communities, report.Community{
			CommunityID: s.Community, Name: s.Name, Size: s.Order, Probability: min(1, s.Probability), SourceMass: mass[s.Community],
		})
	}
	best := p.Best()
	rep.Posterior = report.Posterior{
		NodeID: g.ID(best), Probability: p.Probability[best], CredibleSetSize: len(p.Credible),
		LogRunnerUp: finite(math.Log(p.RunnerUp)), LogPresence: p.LogPresence, Slack: p.Slack,
	}
	b := &rep.BPDN
	b.Status, b.Objective, b.LowerBound, b.Gap = res.Status.String(), res.Objective, res.LowerBound, finite(res.Gap)
	b.Residual, b.Margin, b.Support = res.Residual, res.Margin, []report.Source{}
	f := make([]float64, g.Order())
	if res.Status == recovery.Infeasible {
		b.Objective = 0
		rep.Notes = append(rep.Notes, "no source vector in [0, 1] fits the measurements within the radius: Basis Pursuit Denoising is infeasible, with a proof, and f̂ is 0")
	} else {
		copy(f, res.F)
		for i, v := range f {
			if v > 0 {
				b.Support = append(b.Support, report.Source{NodeID: g.ID(i), Value: v})
			}
		}
	}
	rep.SetNodes(report.Nodes{
		Graph: g, Source: f, Probability: p.Probability, Community: a.partition.Labels,
		Sensors: a.release.Nodes(), PrivateHeat: a.release.Values(),
	})
	rep.SetAnswer()
}

// finite returns a pointer to x, nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
