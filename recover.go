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
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
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
	Amplitude     posterior.Amplitude
	PriorProperty string // public node property proportional to the prior of a source; "": flat
	Sources       int    // that the posterior supposes; 0: one; or [ByEvidence]
}

// denseLimit is the order up to which M is held as a matrix for recovery, 8n²
// bytes.
const denseLimit = 6000

// rows is M for the sensors of a release, as a matrix.
type rows struct {
	nodes []int
	op    linop.Operator
}

// operator returns M for the sensors of a release: a matrix where it is small,
// else products. The last matrix is kept: several plans may have the same sensors.
func (m *Model) operator(ctx context.Context, nodes []int) (linop.Operator, error) {
	if m.Graph.Order() > denseLimit {
		return m.products(nodes)
	}
	if m.last.op != nil && slices.Equal(m.last.nodes, nodes) {
		return m.last.op, nil
	}
	if err := m.guardRecovery(nodes); err != nil {
		return nil, err
	}
	matrix, err := m.diffusion.Rows(ctx, nodes)
	if err != nil {
		return nil, err
	}
	component, _ := m.Graph.Components()
	for k, s := range nodes { // eigenvectors leave rounding between components
		row := matrix.RawRowView(k)
		for i := range row {
			if component[i] != component[s] {
				row[i] = 0
			}
		}
	}
	op, err := m.separate(linop.Dense{M: matrix, Bound: m.diffusion.Err()}, nodes)
	if err != nil {
		return nil, err
	}
	*m.last = rows{slices.Clone(nodes), op}
	return op, nil
}

// guardRecovery refuses a matrix, a scaled one and room to work in beside it, that do not
// fit into memory.
func (m *Model) guardRecovery(nodes []int) error {
	if m.Graph.Order() > denseLimit || m.last.op != nil && slices.Equal(m.last.nodes, nodes) {
		return nil
	}
	return m.opts.guard("recovery", 3*8*int64(len(nodes))*int64(m.Graph.Order()))
}

// checkRecovery finds what would stop a recovery from a release of some nodes.
func (m *Model) checkRecovery(ctx context.Context, nodes []int, opts RecoverOptions) error {
	if err := m.guardRecovery(nodes); err != nil {
		return err
	}
	if _, err := m.Communities(ctx, opts.Communities); err != nil {
		return err
	}
	_, err := m.prior(ctx, opts)
	return err
}

// products returns M for the sensors of a release through products.
func (m *Model) products(nodes []int) (linop.Operator, error) {
	op := linop.Rows(m.diffusion, nodes)
	if m.diffusion.Method() != expm.Chebyshev { // rounding between components
		return op, nil
	}
	return m.separate(op, nodes)
}

// separate declares that op, some rows of M, keeps to the components of the graph.
func (m *Model) separate(op linop.Operator, nodes []int) (linop.Operator, error) {
	component, _ := m.Graph.Components()
	of := make([]int32, len(nodes))
	for k, s := range nodes {
		of[k] = component[s]
	}
	return recovery.Separate(op, of, component)
}

// Communities returns the partition that a report ranks.
func (m *Model) Communities(ctx context.Context, opts CommunityOptions) (community.Partition, error) {
	if opts.Property != "" {
		values, err := m.source.Labels(ctx, m.Graph, opts.Property)
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

// prior reads the prior property, in a unit that is near its largest value: no
// sum of it is infinite, and none underflows. Sources must be fewer than the nodes, and no more than
// those that the prior allows.
func (m *Model) prior(ctx context.Context, opts RecoverOptions) ([]float64, error) {
	property, k, n := opts.PriorProperty, opts.Sources, m.Graph.Order()
	if k < ByEvidence || k > 1 && k >= n {
		return nil, fmt.Errorf("%w: %d sources, want at least 1 and fewer than the number of nodes, %d", recovery.ErrInvalid, k, n)
	}
	if property == "" {
		return nil, nil
	}
	p, err := m.source.Signal(ctx, m.Graph, property)
	if err != nil {
		return nil, fmt.Errorf("read prior: %w", err)
	}
	wrong, possible := 0, 0
	for i, v := range p {
		switch {
		case math.IsNaN(v):
			p[i] = 0
		case v < 0 || math.IsInf(v, 1):
			wrong++
		}
	}
	if wrong > 0 { // named as public by mistake, perhaps: nothing is said of its values
		return nil, fmt.Errorf("%w: prior %w", recovery.ErrInvalid, &privacy.ReadingsError{Property: property, Wrong: "is negative or infinite", Count: wrong})
	}
	_, unit := math.Frexp(floats.Max(p))
	for i, v := range p {
		if p[i] = math.Ldexp(v, -unit); p[i] > 0 {
			possible++
		}
	}
	if possible < max(1, k) {
		return nil, fmt.Errorf("%w: the prior %q allows fewer nodes than there are to be sources, %d", recovery.ErrInvalid, property, max(1, k))
	}
	return p, nil
}

// Recover computes the posterior, the ranking of the communities and f̂ from a
// release. Where Basis Pursuit Denoising ends without a certificate, its status in the
// report is stalled and its gap honest: the posterior does not depend on it.
func (m *Model) Recover(ctx context.Context, r *Release, opts RecoverOptions) (*report.Report, error) {
	plan := r.Plan()
	if err := m.Matches(plan); err != nil {
		return nil, err
	}
	if err := m.matchAllocated(plan, r.Allocated); err != nil {
		return nil, err
	}
	if err := r.Signal.hidden(public(m.Settings, opts.public()...)); err != nil {
		return nil, err
	}
	in := Measurements{Nodes: r.Nodes(), Values: r.Values(), Sigmas: r.Sigmas()}
	return m.analyse(ctx, in, opts, func(rep *report.Report) { m.describeRelease(rep, r) })
}

// Measurements are private values whose release is not at hand.
type Measurements struct {
	Nodes  []int     // the sensors, ascending
	Values []float64 // ỹ, one a sensor
	Sigmas []float64 // σ of each value's noise
}

// RecoverFrom is [Model.Recover] for values whose noise is all that is known of
// their release. The report states no guarantee, and no store takes it.
func (m *Model) RecoverFrom(ctx context.Context, in Measurements, opts RecoverOptions) (*report.Report, error) {
	if k := len(in.Nodes); k == 0 || len(in.Values) != k || len(in.Sigmas) != k {
		return nil, fmt.Errorf("%w: %d nodes, %d values and %d σ, want as many of each and at least one", recovery.ErrInvalid, k, len(in.Values), len(in.Sigmas))
	}
	return m.analyse(ctx, in, opts, func(rep *report.Report) {
		rep.Guarantee = "Nothing is known of the release that these values come from, so nothing is said about its privacy."
		rep.SensorCount = len(in.Nodes)
		rep.Noise = report.NewNoise(in.Sigmas, 0)
	})
}

// analyse recovers; describe adds what is known of the release.
func (m *Model) analyse(ctx context.Context, in Measurements, opts RecoverOptions, describe func(*report.Report)) (*report.Report, error) {
	start := time.Now()
	partition, err := m.Communities(ctx, opts.Communities)
	if err != nil {
		return nil, err
	}
	rep := m.newReport(partition)
	describe(rep)
	rep.PostProcessingMillis = since(start)
	start = time.Now()
	a := analysis{model: m, in: in, opts: opts, partition: partition, report: rep}
	if err = a.run(ctx); err != nil {
		return nil, err
	}
	rep.RecoveryMillis = since(start)
	rep.ComputeMillis += rep.RecoveryMillis
	return rep, nil
}

// analysis is one recovery.
type analysis struct {
	model     *Model
	in        Measurements
	opts      RecoverOptions
	partition community.Partition
	report    *report.Report

	data     measurement.Data // entries of M can be read, where it is small enough
	products measurement.Data // the same, through the cheapest products
	visible  *recovery.Spectrum

	probability []float64 // of each node to be a source
	rHat        float64   // the worst so far
}

func (a *analysis) run(ctx context.Context) error {
	if err := a.whiten(ctx); err != nil {
		return err
	}
	prior, err := a.model.prior(ctx, a.opts)
	if err != nil {
		return err
	}
	opts := posterior.Options{Amplitude: a.opts.Amplitude, Prior: prior, Progress: a.model.opts.Progress}
	norms, err := posterior.ColumnNorms(ctx, a.data, opts)
	if err != nil {
		return err
	}
	opts.Norms = &norms
	post, err := posterior.New(ctx, a.data, opts)
	if err != nil {
		return err
	}
	result, err := a.denoise(ctx)
	if err != nil {
		return err
	}
	a.fill(post, result, prior)
	known := opts
	known.Amplitude = posterior.UnitAmplitude
	if post, err = posterior.New(ctx, a.data, known); err != nil {
		return err
	}
	a.report.Posterior.KnownMassSetSize = len(post.Credible)
	if err := a.several(ctx, opts); err != nil {
		return err
	}
	a.attach(result)
	return nil
}

// whiten scales the sensors to unit noise.
func (a *analysis) whiten(ctx context.Context) error {
	op, err := a.model.operator(ctx, a.in.Nodes)
	if err != nil {
		return err
	}
	u := make([]float64, len(a.in.Sigmas))
	for k, sigma := range a.in.Sigmas {
		u[k] = 1 / (sigma * sigma)
	}
	if a.data, err = measurement.Whiten(op, a.in.Values, u); err != nil {
		return err
	}
	a.products = a.data
	if a.model.diffusion.Method() == expm.Chebyshev { // sparse products beat dense ones
		if op, err = a.model.products(a.in.Nodes); err != nil {
			return err
		}
		a.products, err = measurement.Whiten(op, a.in.Values, u)
	}
	return err
}

// gapTolerance is the relative gap at which f̂ counts as optimal: far below the
// noise, and above what the error of a computed M leaves provable.
const gapTolerance = 1e-8

// denoise solves Basis Pursuit Denoising. Radius and residual are in units of ỹ
// where every sensor has the same σ, else in units of the noise. A result without a
// certificate is Stalled, and no error.
func (a *analysis) denoise(ctx context.Context) (*recovery.Result, error) {
	scale, rule := a.unit(), a.opts.Rule
	if rule.Kind == recovery.Number {
		rule.Value /= scale
	}
	solver := recovery.ColumnGeneration{Options: recovery.Options{
		Tol: gapTolerance, Neighbors: a.model.Graph.Neighbors, Progress: a.model.opts.Progress,
	}}
	result, ball, err := recovery.Recover(ctx, a.products, solver, rule, a.spectrum())
	if err != nil && !errors.Is(err, recovery.ErrStalled) {
		return nil, err
	}
	b := &a.report.BPDN
	b.Radius, b.RadiusRule, b.Dimension, b.Retried = scale*ball.Radius, ball.Rule.String(), ball.Dimension, ball.Retried
	b.Residual, b.Margin = scale*result.Residual, scale*result.Margin
	return result, nil
}

// unit is the σ that all sensors share, or 1.
func (a *analysis) unit() float64 {
	sigma := a.in.Sigmas[0]
	if slices.ContainsFunc(a.in.Sigmas, func(s float64) bool { return s != sigma }) {
		return 1
	}
	return sigma
}

// spectrum returns the singular vectors of the whitened operator where they are
// known, so far or at once: all sensors, one σ, and an eigendecomposition of a
// symmetric L at hand.
func (a *analysis) spectrum() *recovery.Spectrum {
	if a.visible != nil {
		return a.visible
	}
	m, sigma := a.model, a.in.Sigmas[0]
	spec := m.diffusion.Spectrum()
	uniform := !slices.ContainsFunc(a.in.Sigmas, func(s float64) bool { return s != sigma })
	if !uniform || spec == nil || m.laplacian.Similarity() != nil || len(a.in.Nodes) < m.Graph.Order() {
		return nil
	}
	s := &recovery.Spectrum{Values: slices.Clone(spec.Decay(m.Tau)), Left: mat.DenseCopyOf(spec.Vectors().T())}
	floats.Scale(1/sigma, s.Values)
	return s
}

// fill puts the results into the report.
func (a *analysis) fill(p *posterior.Posterior, res *recovery.Result, prior []float64) {
	rep, g := a.report, a.model.Graph
	rep.Prior = a.opts.PriorProperty
	chance := report.Chance(prior, a.partition.Labels, a.partition.Count, 1)
	mass := make([]float64, a.partition.Count)
	if res.Status != recovery.Infeasible {
		mass = a.partition.Sums(res.F)
	}
	for _, s := range community.Rank(p.Probability, a.partition) {
		rep.Communities = append(rep.Communities, report.Community{
			CommunityID: s.Community, Name: s.Name, Size: s.Order, Prior: chance[s.Community],
			Probability: min(1, s.Probability), SourceMass: mass[s.Community],
		})
	}
	best := p.Best()
	rep.Posterior = report.Posterior{
		NodeID: g.ID(best), Probability: p.Probability[best], CredibleSetSize: len(p.Credible),
		LogRunnerUp: finite(math.Log(p.RunnerUp)), LogPresence: p.LogPresence, Slack: p.Slack, ProbabilityError: p.ProbabilityError,
	}
	if e := p.ProbabilityError; e > 0.01 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("the column norms of M are bounded, not exact: probabilities may be off by up to %.2g", e))
	}
	b := &rep.BPDN
	b.Status, b.Objective, b.LowerBound, b.Gap = res.Status.String(), res.Objective, res.LowerBound, finite(res.Gap)
	b.Support = []report.Source{}
	if b.Retried {
		rep.Notes = append(rep.Notes, fmt.Sprintf("no source vector in [0, 1] fits the measurements within the first radius, with a proof: Basis Pursuit Denoising was solved again within a larger one, %.4g by the rule %s", b.Radius, b.RadiusRule))
	}
	a.probability = p.Probability
	if res.Status == recovery.Infeasible {
		b.Objective = 0
		rep.Notes = append(rep.Notes, "no source vector in [0, 1] fits the measurements within the radius: Basis Pursuit Denoising is infeasible, with a proof, and f̂ is 0")
	} else {
		if res.Status == recovery.Zero {
			rep.Notes = append(rep.Notes, "f̂ = 0 explains the measurements within the radius: Basis Pursuit Denoising names no source, and only the posterior ranks")
		}
		if res.Status == recovery.Stalled {
			rep.Notes = append(rep.Notes, fmt.Sprintf("Basis Pursuit Denoising stopped without a certificate, at a relative gap of %.2g", res.Gap))
		}
		for i, v := range res.F {
			if v > 0 {
				b.Support = append(b.Support, report.Source{NodeID: g.ID(i), Value: v})
			}
		}
	}
}

// attach adds the values of the nodes, and the sentence.
func (a *analysis) attach(res *recovery.Result) {
	f := make([]float64, a.model.Graph.Order())
	if res.Status != recovery.Infeasible {
		copy(f, res.F)
	}
	a.report.SetNodes(report.Nodes{
		Graph: a.model.Graph, Source: f, Probability: a.probability, Community: a.partition.Labels,
		Sensors: a.in.Nodes, PrivateHeat: a.in.Values, Sigma: a.in.Sigmas,
	})
	a.report.SetAnswer()
}

// finite returns a pointer to x, nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
