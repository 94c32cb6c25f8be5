// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"time"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy/answer"
)

// AnswerColumns are the names of the node properties that keep published answers.
type AnswerColumns struct{ Answer, Round, Epsilon, Rumour string }

// answerColumns is the number of [AnswerColumns].
const answerColumns = 4

// AnswerNames returns the names of a prefix.
func AnswerNames(prefix string) AnswerColumns {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return AnswerColumns{prefix + "Answer", prefix + "AnswerRound", prefix + "AnswerEpsilon", prefix + "Rumour"}
}

// AnswerOutline is [Outline] for answers; nodes are those with a kept answer.
func AnswerOutline(runID, prefix string, nodes []int) Table {
	names := AnswerNames(prefix)
	t := Outline(runID, prefix, nil)
	t.columns = append([]Column{
		{Name: names.Answer, Nodes: nodes, Ints: []int64{}},
		{Name: names.Round, Nodes: nodes, Ints: []int64{}},
		{Name: names.Epsilon, Nodes: nodes, Floats: []float64{}},
		{Name: names.Rumour, Nodes: nodes, Strings: []string{}},
	}, t.columns[3:]...)
	return t
}

// AnswerReleaseOutline is [AnswerOutline] for answers of which nothing was made.
func AnswerReleaseOutline(runID, prefix string, nodes []int) Table {
	t := AnswerOutline(runID, prefix, nodes)
	t.columns = append(t.columns[:answerColumns:answerColumns], t.columns[len(t.columns)-1])
	t.columns[answerColumns].Nodes = nodes
	return t
}

// NewAnswerTable turns the report of a whisper into the table to write. The answers in it are published ones.
func NewAnswerTable(g *graph.Graph, kept answer.Kept, r *Report, prefix string) Table {
	t := AnswerOutline(r.RunID, prefix, nil)
	fillAnswers(t.columns, g, kept, r.Whisper.Rumour)
	r.fillNodes(t.columns[answerColumns:])
	t.record = append(r.answerProperties(t.columns), r.whisperProperties()...)
	return t
}

// NewAnswerReleaseTable is [NewAnswerTable] for answers of which nothing was made.
func NewAnswerReleaseTable(g *graph.Graph, kept answer.Kept, r *Report, prefix string) Table {
	t := AnswerReleaseOutline(r.RunID, prefix, nil)
	fillAnswers(t.columns, g, kept, r.Whisper.Rumour)
	last := &t.columns[answerColumns]
	last.Nodes, last.Strings = t.columns[0].Nodes, slices.Repeat([]string{r.RunID}, len(t.columns[0].Nodes))
	t.record = r.answerProperties(t.columns)
	return t
}

// fillAnswers fills the columns of kept answers.
func fillAnswers(columns []Column, g *graph.Graph, kept answer.Kept, rumour string) {
	var nodes []int
	var yes, rounds []int64
	var epsilons []float64
	var rumours []string
	for i := range g.Order() {
		a, ok := kept[g.ID(i)]
		if !ok {
			continue
		}
		said := int64(0)
		if a.Yes {
			said = 1
		}
		nodes, yes, rounds = append(nodes, i), append(yes, said), append(rounds, int64(a.Round))
		epsilons, rumours = append(epsilons, a.Epsilon), append(rumours, rumour)
	}
	columns[0].Ints, columns[1].Ints, columns[2].Floats, columns[3].Strings = yes, rounds, epsilons, rumours
	for k := range answerColumns {
		columns[k].Nodes = nodes
	}
}

// answerProperties are those of a run's record that describe its answers.
func (r *Report) answerProperties(columns []Column) []Property {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	w := r.Whisper
	return []Property{
		{"runId", r.RunID},
		{"releaseId", r.ReleaseID},
		{"version", r.Version},
		{"store", r.Store},
		{"startedAt", r.StartedAt.Format(time.RFC3339)},
		{"guarantee", r.Guarantee},
		{"guaranteeOf", r.Promise.Guarantee},
		{"notProtected", r.NotProtected},
		{"epsilon", r.Epsilon},
		{"delta", 0.0},
		{"randomness", r.Randomness},
		{"epsilonSpent", r.EpsilonSpent},
		{"budgetScope", r.BudgetScope},
		{"ledgerHead", r.LedgerHead},
		{"nodeCount", int64(r.NodeCount)},
		{"relationshipCount", int64(r.RelationshipCount)},
		{"properties", names},
		{SignalKey, r.Signal},
		{"rumour", w.Rumour},
		{"round", int64(w.Round)},
		{"asked", int64(w.Asked)},
	}
}

// whisperProperties are those of a run's record that say where the rumour began.
func (r *Report) whisperProperties() []Property {
	w := r.Whisper
	p := []Property{
		{"yes", int64(w.Yes)},
		{"heard", w.Heard},
		{"heardError", w.HeardError},
		{"answer", r.Answer},
		{VerdictKey, r.Verdict()},
		{"communityCount", int64(r.CommunityCount)},
		{"modularity", r.Modularity},
		{"credibleSetSize", int64(r.Posterior.CredibleSetSize)},
		{"sourceDetected", r.Presence.Detected},
	}
	if r.Verdict() != NoSource {
		p = append(p, Property{"community", r.Communities[0].Name}, Property{"communityProbability", r.Communities[0].Probability})
	}
	return p
}

// WrittenNames are the properties that runs with a prefix write.
func WrittenNames(prefix string) (names []string) {
	for _, c := range append(Outline("", prefix, nil).columns, AnswerOutline("", prefix, nil).columns[:answerColumns]...) {
		names = append(names, c.Name)
	}
	return names
}
