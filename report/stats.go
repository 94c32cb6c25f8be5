// SPDX-License-Identifier: Apache-2.0

package report

import (
	"iter"

	"github.com/graphcloak/graphcloak/graph"
)

// Stats returns the columns of the stats and write modes, in the names of GDS
// where it has one. A value is a string, bool, int, int64, float64 or nil.
func (r *Report) Stats() (columns []string, row []any) {
	add := func(name string, value any) {
		columns, row = append(columns, name), append(row, value)
	}
	add("runId", r.RunID)
	add("nodeCount", r.NodeCount)
	add("relationshipCount", r.RelationshipCount)
	add("componentCount", r.ComponentCount)
	add("sensorCount", r.SensorCount)
	add("epsilonSpent", r.EpsilonSpent)
	add("deltaSpent", r.DeltaSpent)
	add("budgetScope", r.BudgetScope)
	add("ledgerHead", r.LedgerHead)
	if w := r.Whisper; w != nil {
		add("round", w.Round)
		add("asked", w.Asked)
		add("askedNow", w.New)
		add("yes", w.Yes)
		add("heard", w.Heard)
		add("heardError", w.HeardError)
		add("among", w.Among)
	} else {
		add("sigma", positive(r.Sigma))
		add("sigmaMin", r.SigmaMin)
		add("sigmaMax", r.SigmaMax)
		add("uniformSigma", positive(r.UniformSigma))
		add("sensitivity", r.Sensitivity.Upper)
		add("sensitivityLower", r.Sensitivity.Lower)
		add("sensitivityUpper", r.Sensitivity.Upper)
		add("ceiling", positive(r.Ceiling))
	}
	add("communityCount", r.CommunityCount)
	add("modularity", r.Modularity)
	if r.Presence != nil {
		add("sourceDetected", r.Presence.Detected)
		add("sourcePValue", r.Presence.PValue)
	}
	if r.Fit != nil {
		add("fitPValue", r.Fit.PValue)
	}
	if len(r.Communities) > 0 && r.Answers() {
		add("community", r.Communities[0].Name)
		add("communityProbability", r.Communities[0].Probability)
	}
	if r.Sources != nil {
		add("sourceCount", r.Sources.Count)
	}
	if r.Answers() {
		add("posteriorNodeId", string(r.Posterior.NodeID))
	}
	add("credibleSetSize", r.Posterior.CredibleSetSize)
	add("credibleSetSizeKnownMass", r.Posterior.KnownMassSetSize)
	add("logOddsRunnerUp", deref(r.Posterior.LogRunnerUp))
	add("logOddsNoSource", r.Posterior.LogPresence)
	if r.Posterior.LogOddsError > 0 {
		add("logOddsError", r.Posterior.LogOddsError)
	}
	if r.Whisper == nil {
		add("didConverge", r.BPDN.Status != "stalled")
		add("bpdnStatus", r.BPDN.Status)
		add("bpdnGap", deref(r.BPDN.Gap))
		add("bpdnResidual", r.BPDN.Residual)
		add("bpdnRadius", r.BPDN.Radius)
		add("bpdnRadiusRule", r.BPDN.RadiusRule)
		add("bpdnSupport", len(r.BPDN.Support))
	}
	add("readMillis", r.ReadMillis)
	add("projectMillis", r.ProjectMillis)
	add("preProcessingMillis", r.PreProcessingMillis)
	add("privacyMillis", r.PrivacyMillis)
	add("recoveryMillis", r.RecoveryMillis)
	add("computeMillis", r.ComputeMillis)
	add("postProcessingMillis", r.PostProcessingMillis)
	add("writeMillis", r.WriteMillis)
	add("nodePropertiesWritten", r.NodePropertiesWritten)
	return columns, row
}

// positive is nil where there is no value.
func positive(x float64) any {
	if x > 0 {
		return x
	}
	return nil
}

func deref(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// Node is one row of the stream mode.
type Node struct {
	NodeID               graph.ID `json:"nodeId"`
	Caption              string   `json:"caption,omitempty"`
	PrivateHeat          *float64 `json:"privateHeat"` // null where the node has no sensor
	PrivateHeatSigma     *float64 `json:"privateHeatSigma"`
	Source               float64  `json:"source"`
	SourceProbability    float64  `json:"sourceProbability"`
	CommunityID          int      `json:"communityId"`
	CommunityProbability float64  `json:"communityProbability"`
	Answer               string   `json:"answer,omitempty"` // yes or no: what a person answers about a whisper
}

// StreamColumns are the columns of [Node] in this report.
func (r *Report) StreamColumns() []string {
	if r.Whisper != nil {
		return []string{"nodeId", "answer", "sourceProbability", "communityId", "communityProbability"}
	}
	return []string{"nodeId", "privateHeat", "privateHeatSigma", "source", "sourceProbability", "communityId", "communityProbability"}
}

// StreamRow returns a node beside [Report.StreamColumns].
func (r *Report) StreamRow(n Node) []any {
	if r.Whisper != nil {
		return []any{string(n.NodeID), n.Answer, n.SourceProbability, n.CommunityID, n.CommunityProbability}
	}
	return []any{
		string(n.NodeID), deref(n.PrivateHeat), deref(n.PrivateHeatSigma), n.Source, n.SourceProbability, n.CommunityID,
		n.CommunityProbability,
	}
}

// Stream yields the nodes in node order.
func (r *Report) Stream() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		k, of, said := 0, r.communityProbabilities(), r.said()
		for i := range r.nodes.Source {
			n := Node{
				NodeID: r.nodes.Graph.ID(i), Source: r.nodes.Source[i],
				SourceProbability: r.nodes.Probability[i], CommunityID: r.nodes.Community[i],
				CommunityProbability: of[r.nodes.Community[i]], Answer: said[i],
			}
			if r.nodes.Captions != nil {
				n.Caption = r.nodes.Captions[i]
			}
			if k < len(r.nodes.Sensors) && r.nodes.Sensors[k] == i {
				n.PrivateHeat, n.PrivateHeatSigma = &r.nodes.PrivateHeat[k], &r.nodes.Sigma[k]
				k++
			}
			if !yield(n) {
				return
			}
		}
	}
}

// said returns what each person answers, by node.
func (r *Report) said() map[int]string {
	said := make(map[int]string, len(r.nodes.Answering))
	for k, v := range r.nodes.Answering {
		said[v] = "no"
		if r.nodes.Yes[k] {
			said[v] = "yes"
		}
	}
	return said
}

// communityProbabilities returns the probability of each community by its id.
func (r *Report) communityProbabilities() map[int]float64 {
	of := make(map[int]float64, len(r.Communities))
	for _, c := range r.Communities {
		of[c.CommunityID] = c.Probability
	}
	return of
}
