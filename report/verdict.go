// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// Verdicts: what a run's likeliest community is worth, for lists that hold no sentence.
const (
	Named     = "named"     // it stands out, and the measurements fit
	Perhaps   = "perhaps"   // it stands out, and the source is more likely elsewhere
	Undecided = "undecided" // no community stands out
	Misfit    = "misfit"    // the measurements do not fit the model, so it is no answer
	NoSource  = "no sign of a source"
)

// Meaning says in words what a verdict says of the community that is listed beside it, "" where it is named.
func Meaning(verdict string) string {
	return map[string]string{
		Misfit:    "the measurements do not fit the model, and no community is named",
		Perhaps:   "the community stands out, and the source is more likely in another",
		Undecided: "no community stands out; the one here is only the likeliest",
	}[verdict]
}

// Detected reports whether there is a source, where that was tested.
func (r *Report) Detected() bool { return r.Presence == nil || r.Presence.Detected }

// sourceProbability is the probability that there is a source, 1 where that was not asked.
func (r *Report) sourceProbability() float64 {
	if r.Presence == nil || r.Presence.Probability == 0 {
		return 1
	}
	return r.Presence.Probability
}

// Misfits reports whether the measurements do not fit the model at all; or more sensors look faulty than may be believed, or
// neighbouring sensors that are off together are likelier than the source that is found.
func (r *Report) Misfits() bool {
	p := r.Presence
	return r.Fit.Fails() || r.TooManyFaulty() || p != nil && p.Detected && p.SharedOffset > .5
}

// TooManyFaulty reports whether more of the reporting sensors are more likely faulty than sound than may be believed, which
// [Report.FaultyClause] says. A process that is not the model looks like that.
func (r *Report) TooManyFaulty() bool { return r.FaultyClause() != "" }

// FaultyClause says that more than one sensor in ten, and more than one in all unless it is the only one, is more likely faulty than
// sound; or that neighbours are, which independent faults seldom are. It is "" where neither holds.
func (r *Report) FaultyClause() string {
	k := r.FaultySensorCount
	which := fmt.Sprintf("%d of %s are more likely faulty than sound", k, Count(r.SensorCount, "sensor"))
	switch p := r.FaultySensorsApart; {
	case 10*k > r.SensorCount && (k > 1 || k == r.SensorCount):
		return which
	case p > 0 && p < least:
		return which + ", and more of them are neighbours than independent faults would be"
	}
	return ""
}

// noAnswer says why the measurements name no community and give no probability: they do not fit, or there may be no source. It is ""
// where they may.
func (r *Report) noAnswer() string {
	p := r.Presence
	switch {
	case r.Misfits():
		return r.misfit() + " So no place is named."
	case !r.Detected():
		return fmt.Sprintf("No sign of a source: without one, measurements speak for a source as clearly in %s of cases, and a false "+
			"alarm is allowed in %s.%s So no place is named.", rate(p.PValue), rate(p.FalseAlarm), r.poorFit())
	}
	return ""
}

// poorFit says that the measurements hardly fit, or fit only without the sensors that are suspect; "" where all do.
func (r *Report) poorFit() (text string) {
	f := r.Fit
	if f == nil {
		return ""
	}
	if f.PValue < PoorFit {
		text = fmt.Sprintf(" The measurements fit the model poorly (p %s%s).", tailProbability(f.PValue), f.instead())
	}
	if all := f.PValueAllSound; all != nil && *all < PoorFit {
		text += fmt.Sprintf(" Without what is more likely faulty than sound, %d of %s, the measurements fit with p %s; were all sound, "+
			"with p %s.", r.FaultySensorCount, Count(r.SensorCount, "sensor"), tailProbability(f.PValue), tailProbability(*all))
	}
	return text
}

// misfit is the sentence of measurements that do not fit.
func (r *Report) misfit() string {
	f := r.Fit
	switch {
	case r.TooManyFaulty():
		why := r.FaultyClause()
		if f != nil {
			why += fmt.Sprintf("; were all sound, p %s%s", tailProbability(f.PValue), f.instead())
		}
		return fmt.Sprintf("The measurements do not fit the model: %s.", why)
	case f.Fails():
		return fmt.Sprintf("The measurements do not fit the model (p %s%s).", tailProbability(f.PValue), f.instead())
	}
	return fmt.Sprintf("The measurements do not fit the model: neighbouring sensors are off together with probability %s.",
		Percent(r.Presence.SharedOffset))
}

// Answers reports whether the measurements say something of where it started: there is a source, and they fit the model.
// Where they do not, no probability is shown.
func (r *Report) Answers() bool { return r.noAnswer() == "" }

// StandsOut reports whether the first community is likelier than by chance: its
// posterior odds are at least 3 times its prior odds, a Bayes factor of 3, and that the
// measurements say something of where it started.
func (r *Report) StandsOut() bool {
	return r.Answers() && len(r.Communities) > 1 && r.standsOut(r.Communities[0])
}

// standsOut is StandsOut for any community, supposing that there is a source. A probability is capped below 1 by rounding.
func (r *Report) standsOut(c Community) bool {
	const rounding = 1e-12
	p := min(c.Probability/r.sourceProbability(), 1-rounding)
	return p*(1-c.Prior) >= MinBayesFactor*c.Prior*(1-p)
}

// Verdict is [Misfit], [NoSource], [Undecided], [Perhaps] or [Named]: the first that holds. What does not fit is no test of a source.
func (r *Report) Verdict() string {
	switch {
	case r.Misfits():
		return Misfit
	case !r.Detected():
		return NoSource
	case !r.StandsOut():
		return Undecided
	case r.Communities[0].Probability < .5:
		return Perhaps
	}
	return Named
}
