// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/report"
)

// newReport describes the model, before anything is known of a release or of communities.
func (m *Model) newReport() *report.Report {
	_, components := m.Graph.Components()
	rep := &report.Report{
		Store: m.Source.Name(), StartedAt: m.Started,
		NotProtected: report.Exposed(len(components)), Notes: slices.Clone(m.Notes),
		NodeCount: m.Graph.Order(), RelationshipCount: m.Graph.Size(), ComponentCount: len(components),
		Communities: []report.Community{}, Millis: m.Millis,
	}
	switch d := m.Operator; {
	case d == nil:
	case d.Given != nil:
		rep.Operator, rep.OperatorDigest, rep.Metric = d.Given.Name, d.Given.Digest, m.Metric()
	default:
		rep.Tau, rep.Laplacian, rep.Metric = m.Tau.Value(), m.Settings.Laplacian.String(), m.Metric()
		rep.KernelMethod = d.Diffusion.Method().String()
	}
	rep.ComputeMillis = m.Millis.ProjectMillis + m.Millis.PreProcessingMillis + m.Millis.PrivacyMillis
	return rep
}

func describeCommunities(rep *report.Report, p community.Partition) {
	rep.CommunityCount, rep.Modularity = p.Count, p.Modularity
}

// describeRelease adds the guarantee of a release, and its spend where this run
// made it.
func (m *Model) describeRelease(rep *report.Report, r *Release) {
	p := r.Plan()
	rep.ReleaseID, rep.RunID = r.ID(), r.ID()
	rep.Signal = r.Signal.Property()
	rep.Guarantee, rep.NotProtected = p.Sentence(), report.ExposedBy(p)
	promise := p.Promise()
	rep.Promise = &promise
	rep.Ceiling = posterior.Ceiling(p.JointMu, 1)
	rep.SensorCount = m.Operator.SensorCount(r.Nodes())
	rep.Epsilon, rep.Delta, rep.Alpha = p.Epsilon, p.Delta, p.Alpha
	rep.Calibration, rep.Randomness = p.Calibration.String(), p.Randomness.String()
	rep.Allocation = "uniform"
	rep.Noise = plan.Noise(p, r.Allocated)
	bracket := p.Sensitivity
	if p.Guarantee == privacy.PerSensor {
		rep.Allocation = p.Guarantee.String() // each sensor by its own worst edge
	}
	if a := r.Allocated; a != nil {
		rep.Allocation, bracket = "optimal", a.Uniform.Sensitivity
	}
	rep.Sensitivity = report.Sensitivity{Lower: bracket.Lower, Upper: bracket.Upper, Edge: bracket.Edge}
}
