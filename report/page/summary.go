// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// Headline is the answer in a few words.
func (c *content) Headline() string {
	if c.Whisper() {
		return c.whisperHeadline()
	}
	r := c.Report
	switch v := r.Verdict(); {
	case v == report.NoSource:
		return "No sign of a source"
	case v == report.Misfit:
		return "The measurements do not fit the model"
	case !c.Distinguishes():
		return "No community stands out"
	case c.Several() || len(r.Communities) < 2:
		return "Where it started, as far as the noise lets one say"
	case v == report.Perhaps:
		return fmt.Sprintf("The source is perhaps in community %s", cut(r.Communities[0].Name))
	}
	return fmt.Sprintf("The source is most likely in community %s", cut(r.Communities[0].Name))
}

// sure is how sure the answer is, in words.
func (c *content) sure() string {
	switch p := c.Report.Communities[0].Probability; {
	case !c.Distinguishes():
		return "not at all"
	case p >= .95:
		return "almost certain"
	case p >= .8:
		return "likely"
	case p >= .5:
		return "more likely than not"
	}
	return "a hint, no more"
}

// Next says what to do with the answer.
func (c *content) Next() string {
	if c.Whisper() {
		return c.whisperNext()
	}
	const cheaper = "Before another release spends, graphcloak plan says how often its answer would be right: a larger ε or fewer " +
		"communities help, and --target-accuracy finds the ε."
	switch v := c.Report.Verdict(); {
	case v == report.NoSource:
		return "If it is known that there is a source, --false-alarm 1 supposes it: graphcloak recover with the kept release " +
			"costs nothing. " + cheaper
	case v == report.Misfit:
		return "Look at what would explain the measurements better, below: another graph, another τ, more than one source, broken " +
			"sensors, or no heat at all. graphcloak recover with the kept release and other settings costs nothing."
	case !c.Distinguishes():
		return "Act on none of the communities. " + cheaper
	case v == report.Perhaps:
		return "Look there first, and expect to look elsewhere too. " + cheaper
	case len(c.Report.Communities) < 2:
		return "Look among the likeliest nodes below, at all of them."
	}
	return "Look among all of its members, not at the likeliest node alone, and then at the communities that come next."
}

// Sums are the numbers that a reader wants first.
func (c *content) Sums() []sum {
	r := c.Report
	var list []sum
	if r.Answers() && len(r.Communities) > 1 {
		top := r.Communities[0]
		list = append(list, sum{
			"How sure", c.sure(),
			fmt.Sprintf("%s for the likeliest community, which was %s before the %s", percent(top.Probability),
				percent(top.Prior), c.words().Data),
		})
	}
	if r.Answers() {
		list = append(list, sum{
			"Hidden among", c.count(r.Posterior.CredibleSetSize),
			fmt.Sprintf("of %s, with 95 %% probability", thousands(r.NodeCount)),
		})
	}
	if c.Whisper() {
		list = append(list, c.whisperSums()...)
	} else if r.EpsilonSpent > 0 {
		list = append(list, sum{"Privacy spent", "ε = " + digits(r.EpsilonSpent), "at δ = " + digits(r.DeltaSpent) + c.plainPromise()})
	}
	if b := c.Budget; b != nil {
		s := sum{"Left to spend", "no limit set", fmt.Sprintf("after ε = %s in %s", digits(b.Epsilon), counted(b.Releases, "release"))}
		if b.PerPerson {
			s.Note += b.Of()
		}
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

// plainPromise says beside ε what it is, where e^ε is a number that says something.
func (c *content) plainPromise() string {
	r := c.Report
	if r.Epsilon == 0 || r.EpsilonSpent != r.Epsilon {
		return ""
	}
	limits := ""
	if q := r.Qualification(); q != "" {
		limits = ", " + q
	}
	if r.Epsilon > 20 || r.Promise == nil { // then nobody knows of what it is
		return limits
	}
	return fmt.Sprintf("%s: any %s is at most %s times as likely as from a source %s away, but for δ", limits, c.Published(),
		factor(r.Epsilon), c.Radius())
}

// CeilingSentence says how often two neighbours are distinguished by all values together, and
// nothing where the bound bounds nothing. Its per cent are rounded up.
func (c *content) CeilingSentence() string {
	who := "Somebody to whom two neighbours are equally likely, and who then sees all the published values, "
	most := math.Ceil(100*c.Report.Ceiling - 1e-9)
	if most > 99 {
		return who + "may tell almost always which of the two it was: the noise does not hinder it."
	}
	if c.Report.Conditional() {
		who = "Provided that the process is within the condition under which the promise holds: " + strings.ToLower(who[:1]) + who[1:]
	}
	return fmt.Sprintf("%scan tell which of the two it was in at most %.0f %% of cases, however they compute. A coin is right in 50 %%.",
		who, most)
}

// Published is what the guarantee is of.
func (c *content) Published() string {
	if c.Report.EachSensor() {
		return "published value of any single sensor"
	}
	return "published result"
}

// Radius is how far apart neighbours are at most.
func (c *content) Radius() string {
	switch r := c.Report; {
	case r.Metric != "hops" && r.Metric != "":
		return fmt.Sprintf("%s units of %q", digits(r.Alpha), cut(r.Metric))
	case r.Alpha == 1:
		return "1 hop"
	}
	return digits(c.Report.Alpha) + " hops"
}

// FitSentences say whether the model explains the measurements, with other explanations
// where it does so poorly, and whether there is a source.
func (c *content) FitSentences() (list []string) {
	if f := c.Report.Fit; f != nil {
		list = append(list, c.fitSentence(f))
		for _, a := range f.Alternatives {
			list = append(list, compared(a))
		}
	}
	if p := c.Report.Presence; p != nil && p.Trials > 0 {
		if c.Whisper() {
			return append(list, c.whisperPresence(p))
		}
		if p.FalseAlarm >= 1 {
			return append(list, "That there is a source was supposed and not tested (--false-alarm 1).")
		}
		verdict := "There is no sign of a source"
		if p.Detected {
			verdict = "There is a source"
		}
		list = append(list, fmt.Sprintf("%s: of measurements without one, %s would speak for one as clearly, and %s is allowed.", verdict,
			rare(p.PValue), percent(p.FalseAlarm)))
	}
	return list
}

// fitSentence says yes or no, and by what.
func (c *content) fitSentence(f *report.Fit) string {
	verdict := "Yes"
	switch {
	case c.Report.TooManyFaulty():
		return fmt.Sprintf("No: %s. Were all sound, %s of measurements that do follow the model would fit as poorly as these or worse.",
			c.Report.FaultyClause(), rare(f.PValue))
	case f.Fails():
		verdict = "No"
	case f.PValue < report.PoorFit:
		verdict = "Poorly"
	}
	text := fmt.Sprintf("%s: of measurements that do follow the model, %s would fit as poorly as these or worse.", verdict, rare(f.PValue))
	if p := f.PValueAllSound; p != nil {
		text += fmt.Sprintf(" That leaves out what is more likely faulty than sound; were all sensors sound, it would be %s.", rare(*p))
	}
	return text
}

// compared says how well another explanation does beside the model.
func compared(a report.Alternative) string {
	name := strings.ToUpper(a.Name[:1]) + a.Name[1:]
	switch x := a.LogEvidence; {
	case x < math.Log(2):
		return name + " would explain them no better than the model."
	case x < math.Log(1000):
		return fmt.Sprintf("%s would explain them better than the model, by a factor of %.0f.", name, math.Exp(x))
	default:
		power := raised(strconv.Itoa(int(x / math.Ln10)))
		return fmt.Sprintf("%s would explain them better than the model, by a factor of 10%s.", name, power)
	}
}

// Suspects are the likeliest of the sensors that may be faulty.
func (c *content) Suspects() []report.Suspect {
	return c.Report.SuspectSensors[:min(listed, len(c.Report.SuspectSensors))]
}

// AnyMass reports whether Basis Pursuit Denoising found a source in any community.
func (c *content) AnyMass() bool {
	return slices.ContainsFunc(c.Report.Communities, func(x report.Community) bool { return x.SourceMass != 0 })
}

// MoreSuspects is the number of those that are not listed.
func (c *content) MoreSuspects() int { return max(0, len(c.Report.SuspectSensors)-listed) }

// Certificate says in words what Basis Pursuit Denoising proved.
func (c *content) Certificate() string {
	b := c.Report.BPDN
	switch b.Status {
	case "optimal":
		gap := ""
		if b.Gap != nil {
			gap = fmt.Sprintf(" No source vector that fits has a total mass smaller by more than a relative %s: the duality gap proves it.",
				strconv.FormatFloat(*b.Gap, 'g', 2, 64))
		}
		return fmt.Sprintf("The least source vector within the radius of the measurements has mass %s, on %s.%s This is no second "+
			"answer: it does not tell where the source is. It bounds the true mass from below only where the noise is within the "+
			"radius, which by the rule that is taken by default it is in half of all runs. The ranking above rests on the posterior.",
			digits(b.Objective), nodesOf(len(b.Support)), gap)
	case "zero":
		return "No source at all explains the measurements just as well within the noise: f̂ = 0 is optimal, and this method names " +
			"nothing. The ranking above rests on the posterior."
	case "infeasible":
		return "No source vector in [0, 1] fits the measurements within the radius; there is a proof. The ranking above rests on " +
			"the posterior."
	}
	return "The solver stopped without a certificate, so f̂ may not be optimal. The ranking above rests on the posterior, which does " +
		"not depend on it."
}

// SettingsFacts are the parameters of the run, for a reader who repeats it.
func (c *content) SettingsFacts() factTable {
	r := c.Report
	return factTable{"Settings", filled([]fact{
		{"diffusion time τ", digits(r.Tau)},
		{"Laplacian", r.Laplacian},
		{"given operator", r.Operator},
		{"kernel", r.KernelMethod},
		{"ε", digits(r.Epsilon)},
		{"δ", digits(r.Delta)},
		{"radius of neighbours α", digits(r.Alpha)},
		{"metric", r.Metric},
		{"calibration", r.Calibration},
		{"allocation of the noise", r.Allocation},
		{"randomness", r.Randomness},
		{"prior", r.Prior},
	})}
}

// RunFacts identify the run.
func (c *content) RunFacts() factTable {
	r, when := c.Report, ""
	if !r.StartedAt.IsZero() {
		when = r.StartedAt.UTC().Format("2006-01-02 15:04 UTC")
	}
	return factTable{"The run", filled([]fact{
		{"run", r.RunID},
		{"release", r.ReleaseID},
		{"started", when},
		{"version", r.Version},
		{"store", r.Store},
		{c.words().Nodes, thousands(r.NodeCount)},
		{"relationships", thousands(r.RelationshipCount)},
		{"components", thousands(r.ComponentCount)},
		{c.words().Report, thousands(r.SensorCount)},
		{"ledger head", r.LedgerHead},
	})}
}
