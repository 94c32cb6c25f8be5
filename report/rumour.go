// SPDX-License-Identifier: Apache-2.0

package report

import "math"

// Whisper says what answers of yes or no say of a rumour.
type Whisper struct {
	Rumour     string  `json:"rumour"`
	Round      int     `json:"round"`
	Asked      int     `json:"asked"` // people whose answer is read
	New        int     `json:"new"`   // of them those who answered in this run; the others' answers were kept
	Yes        int     `json:"yes"`
	Heard      float64 `json:"heard"`      // unbiased number of people who have really heard it; may lie outside 0 … Asked
	HeardError float64 `json:"heardError"` // its standard deviation
	Flip       float64 `json:"flip"`       // probability that an answer is not the truth
	Among      float64 `json:"among"`      // exponential of the entropy: among how many who started it is hidden
}

// HeardPeople is how many have really heard it, as far as the answers show: a whole number of those who answer.
func (w *Whisper) HeardPeople() int { return int(math.Round(min(max(0, w.Heard), float64(w.Asked)))) }
