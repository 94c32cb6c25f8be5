// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"

	"github.com/graphcloak/graphcloak/report"
)

// sum is a number at the head of the page.
type sum struct{ Name, Value, Note string }

// facts of a table, for the template.
type factTable struct {
	Caption string
	List    []fact
}

// Headline is the answer in a few words.
func (c *content) Headline() string {
	r := c.Report
	switch {
	case !r.Detected():
		return "No sign of a source"
	case r.Fit != nil && r.Fit.PValue < report.NoFit:
		return "The measurements do not fit the model"
	case c.Several() || len(r.Communities) < 2:
		return "Where it started, as far as may be told"
	case !r.StandsOut():
		return "No community stands out"
	case r.Communities[0].Probability < .5:
		return fmt.Sprintf("Perhaps in community %s", cut(r.Communities[0].Name))
	}
	return fmt.Sprintf("Most likely in community %s", cut(r.Communities[0].Name))
}

// Several reports whether the posterior supposes another number of sources than one.
func (c *content) Several() bool { return c.Report.Sources != nil && c.Report.Sources.Count != 1 }

// Sums are the numbers that a reader wants first.
func (c *content) Sums() []sum {
	r := c.Report
	var list []sum
	if len(r.Communities) > 1 {
		top := r.Communities[0]
		before := "chance"
		if r.Prior != "" {
			before = "the prior"
		}
		list = append(list, sum{"Likeliest community", percent(top.Probability), fmt.Sprintf("where %s alone gives %s", before, percent(top.Prior))})
	}
	list = append(list, sum{"Hidden among", nodesOf(r.Posterior.CredibleSetSize), fmt.Sprintf("of %s, with 95 %% probability", thousands(r.NodeCount))})
	if r.EpsilonSpent > 0 {
		list = append(list, sum{"Privacy spent", "ε = " + digits(r.EpsilonSpent), "at δ = " + digits(r.DeltaSpent)})
	}
	if b := c.Budget; b != nil {
		s := sum{"Left to spend", "no limit set", fmt.Sprintf("after ε = %s in %s", digits(b.Epsilon), counted(b.Releases, "release"))}
		if b.CapEpsilon > 0 {
			s.Value = "ε = " + digits(b.Left)
		}
		list = append(list, s)
	}
	return list
}

// BPDNFacts are the numbers of the certificate.
func (c *content) BPDNFacts() factTable {
	b := c.Report.BPDN
	list := []fact{
		{"status", b.Status},
		{"objective, mass of f̂", digits(b.Objective)},
		{"proved lower bound", digits(b.LowerBound)},
		{"residual", digits(b.Residual)},
		{"radius, by rule " + b.RadiusRule, digits(b.Radius)},
		{"directions measured", thousands(b.Dimension)},
	}
	for k, s := range b.Support[:min(5, len(b.Support))] {
		list = append(list, fact{fmt.Sprintf("f̂, entry %d of %d", k+1, len(b.Support)), digits(s.Value) + " at " + string(s.NodeID)})
	}
	return factTable{"Numbers of the certificate", filled(list)}
}

// FitFacts say whether there is a source, and whether the model explains the measurements,
// with other explanations where it does so poorly.
func (c *content) FitFacts() (list []fact) {
	if p := c.Report.Presence; p != nil && p.Trials > 0 {
		list = append(list, fact{"measurements without a source speak for one as clearly", share(p.PValue) + " of cases"})
	}
	f := c.Report.Fit
	if f == nil {
		return list
	}
	list = append(list, fact{"measurements under the model fit as poorly", share(f.PValue) + " of cases"})
	for _, a := range f.Alternatives {
		list = append(list, fact{"natural logarithm of the evidence for " + a.Name + " against the model", digits(a.LogEvidence)})
	}
	return list
}

// SettingsFacts and RunFacts are the folded tables.
func (c *content) SettingsFacts() factTable { return factTable{"Settings", c.Settings} }

// RunFacts identify the run.
func (c *content) RunFacts() factTable { return factTable{"The run", c.Facts} }

// suspect is a sensor that may be broken.
type suspect struct {
	Name        string
	Probability float64
}

// Suspects are the likeliest of the sensors that may be broken.
func (c *content) Suspects() (list []suspect) {
	for _, s := range c.Report.SuspectSensors[:len(c.Report.SuspectSensors)-c.MoreSuspects()] {
		list = append(list, suspect{string(s.NodeID), s.Probability})
	}
	return list
}

// MoreSuspects is the number of those that are not listed.
func (c *content) MoreSuspects() int { return max(0, len(c.Report.SuspectSensors)-listed) }
