// SPDX-License-Identifier: Apache-2.0

package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// Series is runs beside each other, in the order of their start.
type Series struct {
	Runs    []SeriesRun `json:"runs"`
	Budgets []Budget    `json:"budgets"` // of their scopes
}

// SeriesRun is one run of a series.
type SeriesRun struct {
	RunID           string  `json:"runId"`
	Started         string  `json:"startedAt"` // RFC 3339, UTC
	Community       string  `json:"community"` // the likeliest; "": the record has none
	Probability     float64 `json:"probability"`
	Verdict         string  `json:"verdict"` // [report.Report.Verdict]; "": the record has none
	CredibleSetSize int     `json:"credibleSetSize"`
	EpsilonSpent    float64 `json:"epsilonSpent"`
	Delta           float64 `json:"delta"`
	BudgetScope     string  `json:"budgetScope,omitempty"`
	Answer          string  `json:"answer"`
}

// Add appends a run.
func (s *Series) Add(r *report.Report) {
	n := SeriesRun{
		RunID: r.RunID, CredibleSetSize: r.Posterior.CredibleSetSize,
		EpsilonSpent: r.EpsilonSpent, Delta: r.Delta, BudgetScope: r.BudgetScope, Answer: r.Answer,
		Verdict: r.Verdict(),
	}
	if n.Verdict == report.Undecided && len(r.Communities) == 1 { // a record has the likeliest alone
		n.Verdict = ""
	}
	if !r.StartedAt.IsZero() {
		n.Started = r.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	switch {
	case n.Verdict == report.NoSource:
		n.Community = report.NoSource
	case len(r.Communities) > 0:
		n.Community, n.Probability = r.Communities[0].Name, r.Communities[0].Probability
	}
	s.Runs = append(s.Runs, n)
}

// Scopes are those that paid for the runs, each once, in the order of the runs.
func (s *Series) Scopes() []string {
	var list []string
	for _, r := range s.Runs {
		if r.BudgetScope != "" && !slices.Contains(list, r.BudgetScope) {
			list = append(list, r.BudgetScope)
		}
	}
	return list
}

// Changes says in words what changed from run to run.
func (s *Series) Changes() []string {
	var list []string
	for k := 1; k < len(s.Runs); k++ {
		a, b := s.Runs[k-1], s.Runs[k]
		if a.Community != b.Community || a.Verdict != b.Verdict {
			list = append(list, fmt.Sprintf("%s: from %s to %s", b.When(), a.words(), b.words()))
		}
	}
	switch {
	case len(list) > 0 || len(s.Runs) == 0:
		return list
	case s.Runs[0].Verdict == report.NoSource:
		return []string{"No run has a sign of a source."}
	}
	return []string{"The likeliest community is the same in every run" + doubt(s.Runs[0].Verdict) + "."}
}

// words are the answer of a run in short, never without what speaks against it.
func (r SeriesRun) words() string {
	if r.Verdict == report.NoSource {
		return report.NoSource
	}
	return fmt.Sprintf("%s (%s%s)", r.Community, percent(r.Probability), doubt(r.Verdict))
}

// Chance is the probability in words, nothing where there is no source.
func (r SeriesRun) Chance() string {
	if r.Verdict == report.NoSource {
		return ""
	}
	return percent(r.Probability)
}

// When is the time of the start for people.
func (r SeriesRun) When() string {
	return strings.NewReplacer("T", " ", "Z", " UTC").Replace(r.Started)
}

// doubt continues a sentence with what speaks against an answer.
func doubt(verdict string) string {
	switch verdict {
	case report.Misfit:
		return ", but the measurements do not fit the model"
	case report.Undecided:
		return ", but no community stands out"
	case report.Perhaps:
		return ", but it is more likely in another"
	}
	return ""
}

//go:embed series.html
var seriesHTML string

// WriteSeries writes runs beside each other as one HTML page.
func WriteSeries(w io.Writer, s Series) error {
	t, err := template.New("series.html").Funcs(functions()).Parse(seriesHTML)
	if err != nil {
		return err
	}
	return t.Execute(w, &s)
}
