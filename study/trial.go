// SPDX-License-Identifier: Apache-2.0

package study

import "github.com/graphcloak/graphcloak/recovery"

// Trial is one simulated source and what was made of its release.
type Trial struct {
	Source           int     // node; −1: there was none
	Named            int     // the community that ranks first
	Confidence       float64 // posterior probability of the community that ranks first
	Right            bool    // it holds the source, or one of several
	Detected         bool    // a source is found; false where it was not tested
	Answered         bool    // a source is found, and the community stands out: it would be named
	Covered          bool    // the credible set holds the source
	CredibleSetSize  int     // size of the 95 % credible set
	KnownMassSetSize int     // the same to a reader who knows that the amplitude is 1
	Distance         float64 // earth mover's distance from the source to the posterior within its component
	Elsewhere        float64 // share of the posterior in other components, which Distance leaves out
	Denoised         *DenoisedTrial
}

// DenoisedTrial is what Basis Pursuit Denoising made of a trial.
type DenoisedTrial struct {
	Status   recovery.Status
	Gap      float64 // of the certificate, relative; +Inf where no f̂ is in the ball
	Answered bool    // f̂ ≠ 0
	Right    bool    // the community with most of f̂ holds the source
	Distance float64 // from the source to f̂, normalised; where answered
}
