// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/report"
)

// whisperHeadline is [content.Headline] of a whisper.
func (c *content) whisperHeadline() string {
	r := c.Report
	switch v := r.Verdict(); {
	case v == report.NoSource:
		return "No sign of a whisper"
	case !c.Distinguishes():
		return "No community stands out"
	case len(r.Communities) < 2:
		return "Who may have started the whisper"
	case v == report.Perhaps:
		return fmt.Sprintf("The whisper perhaps began in community %s", cut(r.Communities[0].Name))
	}
	return fmt.Sprintf("The whisper most likely began in community %s", cut(r.Communities[0].Name))
}

// whisperNext is [content.Next] of a whisper.
func (c *content) whisperNext() string {
	const more = "A larger ε, larger communities, or answers of more people say more; " +
		"another round costs ε again of everybody who is asked."
	switch v := c.Report.Verdict(); {
	case v == report.NoSource:
		return "If it is known that there is a whisper, --false-alarm 1 supposes it: the answers are kept, so the same round costs " +
			"nothing again. " + more
	case !c.Distinguishes():
		return "Act on none of the communities. " + more
	case v == report.Perhaps:
		return "Look there first, and expect to look elsewhere too. " + more
	case len(c.Report.Communities) < 2:
		return "Look among the likeliest people below, at all of them, and accuse nobody by it."
	}
	return "Look at the community as a whole, and accuse nobody by this page: an answer of yes may be the coin's."
}

// whisperSums are [content.Sums] of a whisper.
func (c *content) whisperSums() []sum {
	r, w := c.Report, c.Report.Whisper
	list := []sum{{
		"Have really heard it", "about " + thousands(w.HeardPeople()),
		fmt.Sprintf("give or take %.0f; %s of %s say yes", math.Ceil(w.HeardError), thousands(w.Yes), peopleOf(w.Asked)),
	}}
	spent := sum{"Privacy spent", "nothing", "all answers were kept from before"}
	if r.EpsilonSpent > 0 {
		spent.Value = "ε = " + digits(r.EpsilonSpent) + " a person"
		spent.Note = fmt.Sprintf("of each of %s who were asked: an answer moves the odds of anything about its giver by a factor of at "+
			"most %s", peopleOf(w.New), factor(r.Epsilon))
	}
	return append(list, spent)
}

// whisperPresence says whether there is a whisper.
func (c *content) whisperPresence(p *report.Presence) string {
	if p.FalseAlarm >= 1 {
		return "That there is a whisper was supposed and not tested (--false-alarm 1)."
	}
	verdict := "There is no sign of one"
	if p.Detected {
		verdict = "Yes"
	}
	return fmt.Sprintf("%s: where nobody has heard anything, coins alone would speak for a whisper as clearly in %s of cases, and %s is "+
		"allowed.", verdict, rare(p.PValue), percent(p.FalseAlarm))
}

// WhisperCost says what the run asked and spent.
func (c *content) WhisperCost() string {
	w, kept := c.Report.Whisper, ""
	if k := w.Asked - w.New; k > 0 {
		kept = fmt.Sprintf(" The answers of %s were kept from before, and cost nothing.", peopleOf(k))
	}
	if c.Report.EpsilonSpent == 0 {
		return "This run asked nobody and spent nothing." + kept
	}
	return fmt.Sprintf("This run asked %s, and spent ε = %s of each of them.%s", peopleOf(w.New), digits(c.Report.EpsilonSpent), kept)
}

// WhisperFacts are the numbers of a whisper.
func (c *content) WhisperFacts() factTable {
	w := c.Report.Whisper
	return factTable{"The answers", filled([]fact{
		{"rumour", w.Rumour},
		{"round", thousands(w.Round)},
		{"asked in this run", thousands(w.New)},
		{"say yes", thousands(w.Yes)},
		{"have really heard it, without bias", fmt.Sprintf("%s ± %s", digits(w.Heard), digits(w.HeardError))},
		{"probability that the coin turns an answer round", digits(w.Flip)},
		{"started by one of about", peopleOf(int(math.Round(w.Among)))},
	})}
}
