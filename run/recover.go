// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/report"
)

// Recover computes the posterior, the ranking of the communities and f̂ from a
// release. Where Basis Pursuit Denoising ends without a certificate, its status in the
// report is stalled and its gap is what was proven; the posterior does not depend on it. It returns
// [plan.ErrGraphChanged] or [plan.ErrPlan] for a release of another graph, [plan.ErrSignalPublic], and
// the errors of [plan.Model.Partition] and [analyst.Operator.Analyse].
func (m *Model) Recover(ctx context.Context, r *Release, opts analyst.Options) (*report.Report, error) {
	p := r.Plan()
	if err := m.Matches(p); err != nil {
		return nil, err
	}
	if err := m.MatchAllocated(p, r.Allocated); err != nil {
		return nil, err
	}
	if err := r.Signal.CheckPrivate(m.PublicProperties()); err != nil {
		return nil, err
	}
	in := analyst.Measurements{Nodes: r.Nodes(), Values: r.Values(), Sigmas: r.Sigmas(), Clip: &p.Clip}
	opts = supposing(opts, p.Measured())
	opts.Tau = p.Uncertainty.Tau()
	return m.analyse(ctx, in, opts, func(rep *report.Report) { m.describeRelease(rep, r) })
}

// RecoverFrom is [Model.Recover] for values whose noise is all that is known of
// their release. Unless options say so, no sensor is broken. The report states no guarantee, and no store takes it. It returns
// [recovery.ErrInvalid] for measurements that do not fit together or to the graph, and
// the errors of [plan.Model.Partition] and [analyst.Operator.Analyse].
func (m *Model) RecoverFrom(ctx context.Context, in analyst.Measurements, opts analyst.Options) (*report.Report, error) {
	if k := len(in.Nodes); k == 0 || len(in.Values) != k || len(in.Sigmas) != k {
		return nil, fmt.Errorf("%w: %d nodes, %d values and %d σ, want as many of each and at least one", recovery.ErrInvalid, k,
			len(in.Values), len(in.Sigmas))
	}
	return m.analyse(ctx, in, opts, func(rep *report.Report) {
		rep.Guarantee = "Nothing is known of the release that these values come from, so nothing is said about its privacy."
		rep.Noise = report.NewNoise(in.Sigmas, 0)
	})
}

// analyse recovers; describe adds what is known of the release.
func (m *Model) analyse(ctx context.Context, in analyst.Measurements, opts analyst.Options,
	describe func(*report.Report),
) (*report.Report, error) {
	start := time.Now()
	defer m.BeginPartition(ctx)()
	rep := m.newReport()
	describe(rep)
	rep.PostProcessingMillis = plan.Since(start)
	start = time.Now()
	rep.Prior = m.PriorProperty
	if list := m.ListedGraphs(); list != nil {
		opts.Graphs = list
	}
	communities := func(ctx context.Context) (community.Partition, error) {
		p, err := m.Partition(ctx)
		if err == nil {
			describeCommunities(rep, p)
		}
		return p, err
	}
	err := m.checkSources(opts.Sources)
	if err == nil {
		err = m.Operator.Analyse(ctx, in, communities, m.Prior, opts, rep)
	}
	if err != nil {
		return nil, err
	}
	rep.RecoveryMillis = plan.Since(start)
	rep.ComputeMillis += rep.RecoveryMillis
	return rep, nil
}
