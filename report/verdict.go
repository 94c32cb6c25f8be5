// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
)

// Verdicts: what a run's likeliest community is worth, for lists that hold no sentence.
const (
	Named     = "named"     // it stands out, and the measurements fit
	Perhaps   = "perhaps"   // it stands out, and the source is more likely elsewhere
	Undecided = "undecided" // no community stands out
	Misfit    = "misfit"    // the measurements do not fit the model, so it is no answer
	NoSource  = "no sign of a source"
)

// Detected reports whether there is a source, where that was tested.
func (r *Report) Detected() bool { return r.Presence == nil || r.Presence.Detected }

// sourceProbability is the probability that there is a source, 1 where that was not asked.
func (r *Report) sourceProbability() float64 {
	if r.Presence == nil || r.Presence.Probability == 0 {
		return 1
	}
	return r.Presence.Probability
}

// Misfits reports whether the measurements do not fit the model at all: those of sensors that are not suspect, or
// those of so many that are that the others are no test of it.
func (r *Report) Misfits() bool { return r.Fit != nil && r.Fit.PValue < NoFit || r.TooManyFaulty() }

// FaultySensors counts the sensors that are more likely faulty than sound: those that are listed, or where a record
// lists none, as many as it says.
func (r *Report) FaultySensors() (count int) {
	if r.SuspectSensors == nil {
		return r.FaultySensorCount
	}
	for _, s := range r.SuspectSensors {
		if s.Probability > .5 {
			count++
		}
	}
	return count
}

// TooManyFaulty reports whether more of the reporting sensors are more likely faulty than sound than may be believed: more than
// one in ten, and more than one in all. A process that is not the model looks like that.
func (r *Report) TooManyFaulty() bool {
	k := r.FaultySensors()
	return k > 1 && 10*k > r.SensorCount
}

// noAnswer says why the measurements name no community and give no probability: there may be no source, or they do
// not fit. It is "" where they may.
func (r *Report) noAnswer() string {
	var said []string
	if p := r.Presence; !r.Detected() {
		said = append(said, fmt.Sprintf("No sign of a source: without one, measurements speak for a source as clearly in %s of cases, "+
			"and a false alarm is allowed in %s.",
			rate(p.PValue), rate(p.FalseAlarm)))
	}
	if f := r.Fit; r.TooManyFaulty() {
		said = append(said, fmt.Sprintf("The measurements do not fit the model: %d of %s are more likely faulty than sound.",
			r.FaultySensors(), Count(r.SensorCount, "sensor")))
	} else if f != nil && f.PValue < NoFit {
		said = append(said, fmt.Sprintf("The measurements do not fit the model (p %s%s).", tailProbability(f.PValue), f.instead()))
	}
	if said == nil {
		return ""
	}
	return strings.Join(said, " ") + " So no place is named."
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

// Verdict is [NoSource], [Misfit], [Undecided], [Perhaps] or [Named]: the first that holds.
func (r *Report) Verdict() string {
	switch {
	case !r.Detected():
		return NoSource
	case r.Misfits():
		return Misfit
	case !r.StandsOut():
		return Undecided
	case r.Communities[0].Probability < .5:
		return Perhaps
	}
	return Named
}
