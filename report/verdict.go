// SPDX-License-Identifier: Apache-2.0

package report

// Verdicts: what a run's likeliest community is worth, for lists that hold no sentence.
const (
	Named     = "named"     // it stands out, and the measurements fit
	Perhaps   = "perhaps"   // it stands out, and the source is more likely elsewhere
	Undecided = "undecided" // no community stands out
	Misfit    = "misfit"    // the measurements do not fit the model, so it is no answer
)

// Misfits reports whether the measurements do not fit the model at all.
func (r *Report) Misfits() bool { return r.Fit != nil && r.Fit.PValue < NoFit }

// Verdict is [NoSource], [Misfit], [Undecided], [Perhaps] or [Named]: the first that holds.
func (r *Report) Verdict() string {
	switch {
	case !r.Detected() || r.Sources != nil && r.Sources.Count == 0:
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
