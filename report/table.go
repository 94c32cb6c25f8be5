// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/privacy"
)

// DefaultPrefix starts the names of written properties.
const DefaultPrefix = "gc"

// Column is one node property of a run.
type Column struct {
	Name  string
	Nodes []int // numbers of the nodes that have a value, ascending; nil: all
	// Exactly one of the following is set; entry k belongs to Nodes[k], or to node k.
	Floats  []float64 // finite
	Ints    []int64
	Strings []string
}

// Property is one property of a run's record. Value is a string, bool, int64,
// float64, []string, []int64 or []float64, and no number in it is NaN or infinite.
type Property struct {
	Name  string
	Value any
}

// Table is what a store writes: node properties, and the record of the run that
// made them. [NewTable] and [NewReleaseTable] make one, from a release: no other
// value reaches the column of measurements.
type Table struct {
	runID   string
	columns []Column
	record  []Property
}

// NewTable turns a report into the table to write. Its private values come from
// the release, which must be the one that the report is of; sensors are the nodes of its values, ascending. Of a node with several
// the last is written.
func NewTable(release *privacy.Release, sensors []int, r *Report, prefix string) (Table, error) {
	if release.ID() != r.ReleaseID {
		return Table{}, fmt.Errorf("report: the report is of release %q, not of %q", r.ReleaseID, release.ID())
	}
	t := Outline(r.RunID, prefix, sensors)
	t.columns[0].Floats = LastOf(sensors, release.Values())
	t.columns[1].Floats = LastOf(sensors, release.Sigmas())
	t.columns[2].Floats = r.Nodes().Source
	r.fillNodes(t.columns[3:])
	t.record = append(releaseProperties(release, r, t.columns), recoveryProperties(r)...)
	return t, nil
}

// fillNodes fills the columns of every node from its probability on.
func (r *Report) fillNodes(columns []Column) {
	nodes := r.Nodes()
	n := nodes.Graph.Order()
	shares, of := make([]float64, n), r.communityProbabilities()
	labels, ids := make([]int64, n), make([]string, n)
	for i, c := range nodes.Community {
		labels[i], shares[i], ids[i] = int64(c), of[c], r.RunID
	}
	columns[0].Floats = nodes.Probability
	columns[1].Ints = labels
	columns[2].Floats = shares
	columns[3].Strings = ids
}

// NewReleaseTable is [NewTable] for a release that nothing was recovered from: the
// private values and the record of the release.
func NewReleaseTable(release *privacy.Release, sensors []int, r *Report, prefix string) (Table, error) {
	if release.ID() != r.ReleaseID {
		return Table{}, fmt.Errorf("report: the report is of release %q, not of %q", r.ReleaseID, release.ID())
	}
	t := ReleaseOutline(r.RunID, prefix, sensors)
	t.columns[0].Floats = LastOf(sensors, release.Values())
	t.columns[1].Floats = LastOf(sensors, release.Sigmas())
	t.columns[2].Strings = slices.Repeat([]string{r.RunID}, len(t.columns[2].Nodes))
	t.record = releaseProperties(release, r, t.columns)
	return t, nil
}

// ReleaseOutline is [Outline] for a release that nothing was recovered from.
func ReleaseOutline(runID, prefix string, sensors []int) Table {
	t := Outline(runID, prefix, sensors)
	t.columns = []Column{t.columns[0], t.columns[1], t.columns[len(t.columns)-1]}
	t.columns[2].Nodes = t.columns[0].Nodes
	return t
}

// Outline is a table without values: the names, types and nodes that a run will
// write, for checking what is in the way before anything is spent. It cannot be
// written.
func Outline(runID, prefix string, sensors []int) Table {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	sensors = slices.Compact(slices.Clone(sensors))
	return Table{runID: runID, columns: []Column{
		{Name: prefix + "PrivateHeat", Nodes: sensors, Floats: []float64{}},
		{Name: SigmaOf(prefix + "PrivateHeat"), Nodes: slices.Clone(sensors), Floats: []float64{}},
		{Name: prefix + "Source", Floats: []float64{}},
		{Name: prefix + "SourceProbability", Floats: []float64{}},
		{Name: prefix + "Community", Ints: []int64{}},
		{Name: prefix + "CommunityProbability", Floats: []float64{}},
		{Name: prefix + "RunId", Strings: []string{}},
	}}
}

// LastOf returns the last value of each node, for values of ascending nodes.
func LastOf(nodes []int, values []float64) (last []float64) {
	for k, v := range values {
		if k+1 == len(nodes) || nodes[k+1] != nodes[k] {
			last = append(last, v)
		}
	}
	return last
}

// Properties of a run's record that a history reads.
const (
	SignalKey        = "signalProperty"    // the private property that the run released
	VerdictKey       = "verdict"           // its [Report.Verdict]
	FaultySensorsKey = "faultySensorCount" // its [Report.FaultySensorCount], where it is not 0
)

// SigmaOf names the property that holds the σ of each private value beside a
// property of private values.
func SigmaOf(property string) string { return property + "Sigma" }

// releaseProperties are the properties of a run's node that describe its release.
func releaseProperties(release *privacy.Release, r *Report, columns []Column) []Property {
	plan := release.Plan()
	promise := plan.Promise()
	low, high := plan.Sensors[0].Exponent, plan.Sensors[0].Exponent
	for _, s := range plan.Sensors {
		low, high = min(low, s.Exponent), max(high, s.Exponent)
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	p := []Property{
		{"runId", r.RunID},
		{"releaseId", release.ID()},
		{"version", r.Version},
		{"store", r.Store},
		{"startedAt", r.StartedAt.Format(time.RFC3339)},
		{"guarantee", r.Guarantee},
		{"guaranteeOf", promise.Guarantee},
		{"epsilonTogether", promise.Together},
		{"condition", promise.Condition},
		{"notProtected", r.NotProtected},
		{"epsilon", plan.Epsilon},
		{"delta", plan.Delta},
		{"alpha", plan.Alpha},
		{"tau", plan.Tau},
		{"laplacian", plan.Laplacian},
		{"metric", plan.Metric},
		{"calibration", plan.Calibration.String()},
		{"randomness", plan.Randomness.String()},
		{"epsilonSpent", r.EpsilonSpent},
		{"deltaSpent", r.DeltaSpent},
		{"rhoSpent", plan.Cost().Rho()},
		{"budgetScope", r.BudgetScope},
		{"ledgerHead", r.LedgerHead},
		{"mu", plan.Mu},
		{"sigmaMin", r.SigmaMin},
		{"sigmaMax", r.SigmaMax},
		{"sensitivityLower", plan.Sensitivity.Lower},
		{"sensitivityUpper", plan.Sensitivity.Upper},
		{"latticeExponentMin", int64(low)},
		{"latticeExponentMax", int64(high)},
		{"graphDigest", plan.GraphDigest.String()},
		{"nodeCount", int64(r.NodeCount)},
		{"relationshipCount", int64(r.RelationshipCount)},
		{"sensorCount", int64(r.SensorCount)},
		{"properties", names},
	}
	if plan.Given() {
		p = append(p, Property{"operatorDigest", plan.OperatorDigest.String()})
	}
	if r.Signal != "" {
		p = append(p, Property{SignalKey, r.Signal})
	}
	if digest, err := plan.Digest(); err == nil {
		p = append(p, Property{"planDigest", digest.String()})
	}
	if digest, err := release.Digest(); err == nil {
		p = append(p, Property{"releaseDigest", digest.String()})
	}
	return p
}

// recoveryProperties are those that describe what was computed from the release.
func recoveryProperties(r *Report) []Property {
	p := []Property{
		{"answer", r.Answer},
		{VerdictKey, r.Verdict()},
		{"communityCount", int64(r.CommunityCount)},
		{"modularity", r.Modularity},
		{"credibleSetSize", int64(r.Posterior.CredibleSetSize)},
		{"credibleSetSizeKnownMass", int64(r.Posterior.KnownMassSetSize)},
		{"ceiling", r.Ceiling},
		{"solver", "columnGeneration"},
		{"bpdnStatus", r.BPDN.Status},
		{"bpdnRadius", r.BPDN.Radius},
		{"bpdnRadiusRule", r.BPDN.RadiusRule},
		{"bpdnResidual", r.BPDN.Residual},
	}
	if r.Prior != "" {
		p = append(p, Property{"priorProperty", r.Prior})
	}
	if r.Sources != nil {
		p = append(p, Property{"sourceCount", int64(r.Sources.Count)})
	}
	if r.BPDN.Gap != nil {
		p = append(p, Property{"bpdnGap", *r.BPDN.Gap})
	}
	if r.Presence != nil {
		p = append(p, Property{"sourceDetected", r.Presence.Detected}, Property{"presenceProbability", r.Presence.Probability})
	}
	if r.Fit != nil {
		p = append(p, Property{"fitPValue", r.Fit.PValue})
	}
	if k := r.FaultySensorCount; k > 0 {
		p = append(p, Property{FaultySensorsKey, int64(k)})
	}
	if len(r.Communities) > 0 && r.Answers() {
		p = append(p, Property{"community", r.Communities[0].Name}, Property{"communityProbability", r.Communities[0].Probability},
			Property{"posteriorNodeId", string(r.Posterior.NodeID)})
	}
	return p
}

// With returns the table with more properties in its record.
func (t Table) With(p ...Property) Table {
	t.record = append(slices.Clip(t.record), p...)
	return t
}

// RunID returns the id that ties the written properties to the run's record.
func (t Table) RunID() string { return t.runID }

// Columns returns the node properties. The last is the column that holds the
// run's id; it covers every node that another column covers. The caller must not
// change it.
func (t Table) Columns() []Column { return t.columns }

// Record returns the properties of the run's node, apart from its status, which
// the store keeps. The caller must not change it.
func (t Table) Record() []Property { return t.record }

// RunIDColumn returns the name of the column that holds the run's id.
func (t Table) RunIDColumn() string { return t.columns[len(t.columns)-1].Name }

// Size returns the number of node properties.
func (t Table) Size() int64 {
	n := 0
	for _, c := range t.columns {
		n += len(c.Floats) + len(c.Ints) + len(c.Strings)
	}
	return int64(n)
}
