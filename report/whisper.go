// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
)

// whisperAnswer is the sentence of a whisper.
func (r *Report) whisperAnswer() string {
	w := r.Whisper
	said := fmt.Sprintf("%d of %s say yes; about %d have really heard it (± %.0f).", w.Yes, people(w.Asked), w.HeardPeople(),
		math.Ceil(w.HeardError))
	if !r.Detected() {
		return fmt.Sprintf("No sign of a whisper: without one, answers speak for it as clearly in %s of cases, and a false alarm is "+
			"allowed in %s. %s So no place is named.", rate(r.Presence.PValue), rate(r.Presence.FalseAlarm), said)
	}
	top, set := r.Communities[0], "Who started it stays hidden among "+people(r.Posterior.CredibleSetSize)+" (95 % credible set)."
	if r.Posterior.CredibleSetSize == 1 {
		set = "Who started it is NOT hidden: one person holds 95 % of the probability."
	}
	switch {
	case len(r.Communities) == 1:
		return "The graph has a single community, so there is nothing to tell apart. " + said + " " + set
	case r.standsOut(top) && top.Probability < .5:
		return fmt.Sprintf("The whisper may have begun in community %s (%s): probability %s, which was %s before the answers; more "+
			"likely than not, it began elsewhere. %s %s",
			top.Name, people(top.Size), Percent(top.Probability), Percent(top.Prior), said, set)
	case r.standsOut(top):
		return fmt.Sprintf("The whisper most likely began in community %s (%s), with probability %s. %s %s",
			top.Name, people(top.Size), Percent(top.Probability), said, set)
	}
	return fmt.Sprintf("No community stands out: the likeliest, %s, has probability %s, which was %s before the answers. %s %s",
		top.Name, Percent(top.Probability), Percent(top.Prior), said, set)
}

// ExposedByAnswers says what randomized response does not protect.
func ExposedByAnswers() []string {
	return []string{
		"the graph, who was asked and who answered, and every parameter of the run",
		"what the answers of others say about you: if everybody around you says yes, you have probably heard it",
		"what several rounds say together: each one spends budget of everybody who is asked",
		"where the rumour began: that is what the answers are for",
	}
}

func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
