// SPDX-License-Identifier: Apache-2.0

package report

// Verdicts: what a run's likeliest community is worth, for lists that hold no sentence.
const (
	Named     = "named"     // it stands out, and the measurements fit
	Perhaps   = "perhaps"   // it stands out, and the source is more likely elsewhere
	Undecided = "undecided" // no community stands out
	Misfit    = "misfit"    // the measurements do not fit the model, so it is no answer
)

// Misfits reports whether the measurements do not fit the model at all: those of sensors that are not suspect, or
// those of so many that are that the others are no test of it.
func (r *Report) Misfits() bool { return r.Fit != nil && r.Fit.PValue < NoFit || r.TooManyFaulty() }

// faultyAbove is the probability above which a sensor is more likely faulty than sound.
const faultyAbove = .5

// FaultySensors counts the sensors that are more likely faulty than sound: those that are listed, or where a record
// lists none, as many as it says.
func (r *Report) FaultySensors() (count int) {
	if r.SuspectSensors == nil {
		return r.FaultySensorCount
	}
	for _, s := range r.SuspectSensors {
		if s.Probability > faultyAbove {
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

// Answers reports whether the measurements say something of where it started: there is a source, and they fit the model.
// Where they do not, no probability is shown.
func (r *Report) Answers() bool { return r.noAnswer() == "" }

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
