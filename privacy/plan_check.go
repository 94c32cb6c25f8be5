// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/parallel"
)

// validateInputs checks what comes from the user, before any noise is chosen.
func (p *Plan) validateInputs() error {
	if err := p.Budget.Validate(); err != nil {
		return err
	}
	if err := p.Clip.validate(); err != nil {
		return err
	}
	switch {
	case !(p.Alpha > 0 && p.Alpha <= math.MaxFloat64):
		return fmt.Errorf("privacy: alpha is %v, want a finite number > 0", p.Alpha)
	case p.Given() && (p.Tau != 0 || p.Laplacian != ""):
		return fmt.Errorf("privacy: a plan of a given operator has tau %v and the Laplacian %q, want none", p.Tau, p.Laplacian)
	case !p.Given() && !(p.Tau > 0 && p.Tau <= math.MaxFloat64):
		return fmt.Errorf("privacy: tau is %v, want a finite number > 0", p.Tau)
	case p.Guarantee != Joint && p.Guarantee != PerSensor:
		return fmt.Errorf("privacy: guarantee is %d, want joint or perSensor", p.Guarantee)
	case p.Randomness != SystemRandomness && p.Randomness != EscrowRandomness:
		return fmt.Errorf("privacy: randomness is %d, want system or escrow", p.Randomness)
	case len(p.Sensors) == 0:
		return errors.New("privacy: no sensor reports")
	case !(p.EntryError >= 0 && p.NormError >= 0 && p.EntryError <= math.MaxFloat64 && p.NormError <= math.MaxFloat64):
		return fmt.Errorf("privacy: numerical error is %v (%v in the 2-norm), want a finite number ≥ 0", p.EntryError, p.NormError)
	}
	if err := p.validateUncertainty(); err != nil {
		return err
	}
	if err := p.Sensitivity.validate(p.Guarantee == PerSensor); err != nil {
		return err
	}
	if limit := min(1e-12, p.Delta/100); p.Sensitivity.Failure > limit {
		return fmt.Errorf("privacy: the sensitivity may fail with probability %v, want at most %v", p.Sensitivity.Failure, limit)
	}
	if err := p.validateSensors(); err != nil {
		return err
	}
	return p.checkPrecision()
}

// validate is the final check of a finished plan. It takes a few operations a
// sensor, so that every release repeats it.
func (p *Plan) validate() error {
	if p.Calibration == nil || len(p.Sensors) == 0 {
		return errors.New("privacy: the plan is empty: NewPlan makes one")
	}
	finest := p.Clip.finest()
	for _, s := range p.Sensors {
		if err := s.validateNoise(p.Clip, finest); err != nil {
			return err
		}
	}
	mu, joint := p.charge()
	if mu != p.Mu || joint != p.JointMu {
		return fmt.Errorf("privacy: the plan states μ = %v (joint %v), its noise gives %v (%v)", p.Mu, p.JointMu, mu, joint)
	}
	ok, err := p.permits(mu)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("privacy: the plan's noise gives μ = %v, too much for ε = %v, δ = %v under the %s calibration", mu, p.Epsilon,
			p.Delta, p.Calibration)
	}
	if _, err := CostOf(mu); err != nil {
		return err
	}
	return nil
}

// validateNoise is Validate without the parts that all sensors share, such as the finest lattice of the clip.
func (s SensorNoise) validateNoise(clip Interval, finest int) error {
	switch {
	case s.Exponent < -maxExponent || s.Exponent > maxExponent || s.Steps < 1 || s.Steps > maxSteps:
		return fmt.Errorf("privacy: sensor %q has a lattice 2^%d and σ of %d steps, out of range", s.ID, s.Exponent, s.Steps)
	case s.Exponent < finest:
		return fmt.Errorf("privacy: sensor %q has a lattice 2^%d too fine for readings in [%v, %v]", s.ID, s.Exponent, clip.Lo, clip.Hi)
	}
	return nil
}

// permits reports whether μ·r ≤ 1 for the calibration's r = σ/Δ; for the analytic
// one that is the budget itself, and needs no bisection. It asks for half the
// margin of private, still above the error of logDelta, so that another platform's
// last bits refuse no plan.
func (p *Plan) permits(mu float64) (bool, error) {
	if _, ok := p.Calibration.(Analytic); ok {
		b := p.net()
		return logDelta(b.Epsilon, mu)+logDeltaError/2 <= math.Log(b.Delta), nil
	}
	r, err := p.ratio()
	return err == nil && up(mu*r, 1) <= 1, err
}

// Validate repeats every check of NewPlan on the numbers of the plan itself.
// It trusts the sensitivity's upper bound, which package sensitivity certifies. The errors
// are those of [NewPlan].
func (p *Plan) Validate() error {
	if err := p.validateInputs(); err != nil {
		return err
	}
	if err := p.validate(); err != nil {
		return err
	}
	return p.checkNoise()
}

func (s Sensitivity) validate(optional bool) error {
	switch {
	case optional && s.Upper == 0 && s.Lower == 0 && s.Failure >= 0:
		return nil
	case s.Upper == 0 && s.Lower == 0:
		return errors.New("privacy: sensitivity is 0: no relationship reaches a sensor, so there is nothing to tell apart")
	case !(s.Lower >= 0 && s.Lower <= s.Upper && s.Upper >= 0x1p-800 && s.Upper <= 0x1p800):
		return fmt.Errorf("privacy: sensitivity is in [%v, %v], want 0 ≤ lower ≤ upper, upper from 2^-800 to 2^800", s.Lower, s.Upper)
	case !(s.Failure >= 0):
		return fmt.Errorf("privacy: the sensitivity's failure probability is %v, want ≥ 0", s.Failure)
	}
	return nil
}

// validateSensors checks ids, weights and bounds.
func (p *Plan) validateSensors() error {
	if err := parallel.Try(len(p.Sensors), 16, func(lo, hi int) error {
		for _, s := range p.Sensors[lo:hi] {
			if err := CheckID("sensor id", string(s.ID)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if i := repeated(p.Sensors); i >= 0 {
		return fmt.Errorf("privacy: sensor %q is given twice", p.Sensors[i].ID)
	}
	for i := range p.Sensors {
		s := &p.Sensors[i]
		if !(s.Weight >= 0x1p-200 && s.Weight <= 0x1p200) {
			return fmt.Errorf("privacy: sensor %q has weight %v, want 0 or a number from 2^-200 to 2^200", s.ID, s.Weight)
		}
		if p.Guarantee == PerSensor && !(s.Bound >= 0x1p-800 && s.Bound <= 0x1p800) {
			return fmt.Errorf("privacy: sensor %q has sensitivity %v, want a number from 2^-800 to 2^800", s.ID, s.Bound)
		}
	}
	return nil
}

// validateUncertainty checks what is allowed against the plan.
func (p *Plan) validateUncertainty() error {
	u := p.Uncertainty
	switch {
	case !u.Any():
		return nil
	case !p.Measured():
		return fmt.Errorf("privacy: an uncertainty of the process is declared, and readings are computed: it is for readings that " +
			"sensors measure")
	case p.Guarantee != Joint && u.Any():
		return fmt.Errorf("privacy: a range of tau or listed graphs are certified for the joint guarantee, not for %v", p.Guarantee)
	case (u.TauFrom != 0 || u.TauTo != 0) && !(u.TauFrom > 0 && u.TauFrom <= p.Tau && p.Tau <= u.TauTo && u.TauTo <= math.MaxFloat64):
		return fmt.Errorf("privacy: tau may be from %v to %v, want an interval above 0 that holds tau = %v", u.TauFrom, u.TauTo, p.Tau)
	case u.Alternatives < 0 || (u.Alternatives == 0) != (u.AlternativesDigest == Digest{}):
		return fmt.Errorf("privacy: %d alternative graphs do not go with the digest of them", u.Alternatives)
	}
	return nil
}

// repeated returns the first sensor whose id another one before it has, −1 where none does. It takes no memory where
// the ids ascend by length, then bytewise, as those of all nodes of a graph do.
func repeated(sensors []SensorNoise) int {
	rises := func(a, b graph.ID) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
	sorted := 1
	for sorted < len(sensors) && rises(sensors[sorted-1].ID, sensors[sorted].ID) {
		sorted++
	}
	if sorted >= len(sensors) {
		return -1
	}
	seen := make(map[graph.ID]bool, len(sensors))
	return slices.IndexFunc(sensors, func(s SensorNoise) bool {
		twice := seen[s.ID]
		seen[s.ID] = true
		return twice
	})
}

// checkPrecision refuses a plan whose numerical error swamps the sensitivity.
func (p *Plan) checkPrecision() error {
	if p.Guarantee == Joint {
		e := p.numericalError(func(s SensorNoise) float64 { return math.Sqrt(s.Weight) })
		if e > p.Sensitivity.Upper {
			return fmt.Errorf("%w: it adds %.4g to a sensitivity of %.4g; choose a smaller tolerance or the exact method (eigen)",
				ErrImprecise, e, p.Sensitivity.Upper)
		}
		return nil
	}
	for _, s := range p.Sensors {
		if e := 2 * p.entryError(); e > s.Bound {
			return fmt.Errorf("%w: it adds %.4g to the sensitivity %.4g of sensor %q; choose a smaller tolerance or the exact "+
				"method (eigen)",
				ErrImprecise, e, s.Bound, s.ID)
		}
	}
	return nil
}

// maxID bounds sensor and release ids in bytes.
const maxID = 1024

// CheckID refuses an id that a file, a terminal or a key derivation could mistake:
// an empty one, one above 1024 bytes, not UTF-8, or with a control character. what
// names it in the error.
func CheckID(what, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("privacy: %s is empty", what)
	case len(id) > maxID:
		return fmt.Errorf("privacy: %s has %d bytes, want at most %d", what, len(id), maxID)
	case !utf8.ValidString(id):
		return fmt.Errorf("privacy: %s %q is not UTF-8", what, id)
	}
	for _, c := range id {
		if unicode.IsControl(c) {
			return fmt.Errorf("privacy: %s %q has a control character", what, id)
		}
	}
	return nil
}

// checkNoise derives lattice and noise again and compares them with those of the plan:
// a difference means that the file was changed. Other platforms may differ in the last
// bits of σ/Δ, hence the tolerance in steps.
func (p *Plan) checkNoise() error {
	r, err := p.ratio()
	if err != nil {
		return err
	}
	again := *p
	again.Sensors = slices.Clone(p.Sensors)
	if p.Guarantee == Joint {
		err = again.allocate(r)
	} else {
		err = again.allocatePerSensor(r)
	}
	if err != nil {
		return err
	}
	for i, s := range p.Sensors {
		want := again.Sensors[i]
		if off := math.Abs(float64(s.Steps - want.Steps)); s.Exponent != want.Exponent || off > 1+0x1p-36*float64(want.Steps) {
			return fmt.Errorf("privacy: sensor %q has noise of %d steps of 2^%d, sensitivity and budget give %d of 2^%d", s.ID, s.Steps,
				s.Exponent, want.Steps, want.Exponent)
		}
	}
	return nil
}
