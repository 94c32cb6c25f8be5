// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/measurement"
)

// mechanism compares the printed calibration with the textbook's and with the exact
// one (Balle & Wang 2018), and the paper's radius with the noise that it is to hold.
func mechanism(_ context.Context, r *runner) error {
	if err := r.calibrations(); err != nil {
		return err
	}
	if err := r.limits(); err != nil {
		return err
	}
	r.radii()
	return nil
}

// printedRatio and textbookRatio are σ/Δ₂ as in the paper's lemma, and as in Dwork &
// Roth, theorem A.1, which asks for ε < 1.
func printedRatio(eps, delta float64) float64 { return 2 * math.Log(1.25/delta) / eps }

func textbookRatio(eps, delta float64) float64 { return math.Sqrt(2*math.Log(1.25/delta)) / eps }

func (r *runner) calibrations() error {
	t := r.table("calibration", "σ/Δ₂ of three calibrations, and the ε that each really gives at the same δ",
		"epsilon,delta,printed,textbook,exact,printedEpsilon,textbookEpsilon")
	for _, b := range []privacy.Budget{
		{Epsilon: 4, Delta: .1},
		{Epsilon: 1, Delta: .1},
		{Epsilon: 1, Delta: 1e-5},
		{Epsilon: .1, Delta: 1e-10},
		{Epsilon: 8, Delta: .1},
		{Epsilon: 50, Delta: .1},
	} {
		exact, err := privacy.Analytic{}.Sigma(b, 1)
		if err != nil {
			return err
		}
		printed, textbook := printedRatio(b.Epsilon, b.Delta), textbookRatio(b.Epsilon, b.Delta)
		p, err := privacy.GDPEpsilon(1/printed, b.Delta)
		if err != nil {
			return err
		}
		q, err := privacy.GDPEpsilon(1/textbook, b.Delta)
		if err != nil {
			return err
		}
		t.add(b.Epsilon, b.Delta, printed, textbook, exact, p, q)
	}
	r.say("Noise of standard deviation σ on a map of ℓ₂ sensitivity Δ₂ is (ε, δ)-private exactly where μ = Δ₂/σ is small enough. The " +
		"printed factor 2 ln(1.25/δ) is the textbook's without its root: more noise than is needed for moderate ε, and not enough for " +
		"large ε. The last two columns invert the calibration: the ε that the noise really gives.")
	return nil
}

// limits finds the ε beyond which a closed form is not private.
func (r *runner) limits() error {
	t := r.table("calibration-limits", "The largest ε at which a closed form is private",
		"delta,printed,textbook")
	first, exact := math.Inf(1), true
	for _, delta := range []float64{.1, 1e-5, 1e-10} {
		row := []any{delta}
		for _, ratio := range []func(eps, delta float64) float64{printedRatio, textbookRatio} {
			limit, err := privateUpTo(ratio, delta)
			if err != nil {
				return err
			}
			row = append(row, limit)
		}
		first = min(first, row[1].(float64))
		sigma, err := privacy.Analytic{}.Sigma(privacy.Budget{Epsilon: 50, Delta: delta}, 1)
		if err != nil {
			return err
		}
		real, err := privacy.GDPEpsilon(1/sigma, delta)
		if err != nil {
			return err
		}
		exact = exact && relative(real, 50) < 1e-6 // no more noise than is needed, and no less
		t.add(row...)
	}
	r.claim("gaussian-mechanism", math.IsInf(first, 1), exact,
		"at δ = 0.1 it fails beyond ε = %.4f", first)
	return nil
}

// mostMu is just below the largest μ that [privacy.GDPEpsilon] takes.
const mostMu = 999

// privateUpTo bisects for the ε at which a closed form c(δ)/ε stops being private;
// +Inf where it is as far as μ = ε/c is taken.
func privateUpTo(ratio func(eps, delta float64) float64, delta float64) (float64, error) {
	lo, hi := .5, mostMu*ratio(1, delta)
	real, err := privacy.GDPEpsilon(1/ratio(hi, delta), delta)
	if err != nil || real <= hi {
		return math.Inf(1), err
	}
	for hi-lo > 1e-10*hi {
		mid := (lo + hi) / 2
		if real, err = privacy.GDPEpsilon(1/ratio(mid, delta), delta); err != nil {
			return 0, err
		}
		if real <= mid {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// hsuRadius is the tail bound √(m + 2√(mt) + 2t), t = ln(1/β), on the length of m standard
// normal values at β = 0.05.
// Reference: Hsu, Kakade and Zhang (2012), Electron. Commun. Probab. 17(52);
// Laurent and Massart (2000), Ann. Statist. 28, Lemma 1.
func hsuRadius(m int) float64 {
	t, k := -math.Log(.05), float64(m)
	return math.Sqrt(k + 2*math.Sqrt(k*t) + 2*t)
}

// radii says how often the noise stays within the paper's radius.
func (r *runner) radii() {
	t := r.table("radius", "The radius in units of σ, and how often the noise lies within it",
		"m,paper,paperProbability,hsu95,hsuProbability,chi2At95")
	worst := 1.0
	for _, m := range []int{10, 50, 100, 500, 1000, 10_000} {
		chi := distuv.ChiSquared{K: float64(m)}
		paper, hsu := paperRadius(m), hsuRadius(m)
		worst = min(worst, chi.CDF(paper*paper))
		t.add(m, paper, chi.CDF(paper*paper), hsu, chi.CDF(hsu*hsu), math.Sqrt(measurement.Chi2Above(float64(m), .05)))
	}
	// "High" is read as at least 0.9.
	r.claim("radius", worst >= .9, worst > .5 && worst < .6,
		"P = %.3f at m = 50, %.3f at m = 500", distuv.ChiSquared{K: 50}.CDF(50), distuv.ChiSquared{K: 500}.CDF(500))
}
