// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// newReport describes the model, before anything is known of a release or of communities.
func (m *Model) newReport() *report.Report {
	_, components := m.Graph.Components()
	rep := &report.Report{
		Store: m.source.Name(), StartedAt: m.started,
		NotProtected: report.Exposed(len(components)), Notes: slices.Clone(m.notes),
		NodeCount: m.Graph.Order(), RelationshipCount: m.Graph.Size(), ComponentCount: len(components),
		Tau: m.Tau, Laplacian: m.Settings.Laplacian.String(), KernelMethod: m.operator.Diffusion.Method().String(), Metric: m.metric(),
		Communities: []report.Community{}, Millis: m.millis,
	}
	rep.ComputeMillis = m.millis.ProjectMillis + m.millis.PreProcessingMillis + m.millis.PrivacyMillis
	return rep
}

func describeCommunities(rep *report.Report, p community.Partition) {
	rep.CommunityCount, rep.Modularity = p.Count, p.Modularity
	orders := p.Orders()
	slices.Sort(orders)
	if p.Count > 0 {
		rep.CommunityDistribution = report.NewDistribution(orders)
	}
}

// describeRelease adds the guarantee of a release, and its spend where this run
// made it.
func (m *Model) describeRelease(rep *report.Report, r *Release) {
	plan := r.Plan()
	rep.ReleaseID, rep.RunID = r.ID(), r.ID()
	rep.Signal = r.Signal.Property()
	rep.Guarantee, rep.NotProtected = plan.Sentence(), report.ExposedBy(plan)
	promise := plan.Promise()
	rep.Promise = &promise
	rep.Ceiling = posterior.Ceiling(plan.JointMu, 1)
	rep.SensorCount = len(plan.Sensors)
	rep.Epsilon, rep.Delta, rep.Alpha = plan.Epsilon, plan.Delta, plan.Alpha
	rep.Calibration, rep.Randomness = plan.Calibration.String(), plan.Randomness.String()
	rep.Allocation = "uniform"
	rep.Noise = noise(plan, r.Allocated)
	bracket := plan.Sensitivity
	if plan.Guarantee == privacy.PerSensor {
		rep.Allocation = plan.Guarantee.String() // each sensor by its own worst edge
	}
	if a := r.Allocated; a != nil {
		rep.Allocation, bracket = "optimal", a.Uniform.Sensitivity
	}
	rep.Sensitivity = report.Sensitivity{Lower: bracket.Lower, Upper: bracket.Upper, Edge: bracket.Edge}
}
