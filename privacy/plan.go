// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/graph"
)

// Guarantee says what is (ε, δ)-private.
type Guarantee int

const (
	Joint     Guarantee = iota // the whole vector ỹ
	PerSensor                  // each ỹ_s alone, the paper's definition
	PerPerson                  // each person's answer, with δ = 0: of package answer, and of no Plan
)

// Randomness says where noise comes from.
type Randomness int

func (g Guarantee) String() string { return enumName(int(g), "joint", "perSensor", "perPerson") }

// MarshalText writes joint, perSensor or perPerson.
func (g Guarantee) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads joint, perSensor or perPerson.
func (g *Guarantee) UnmarshalText(text []byte) (err error) {
	*g, err = parseEnum[Guarantee]("guarantee", string(text), "joint", "perSensor", "perPerson")
	return err
}

// ParseGuarantee reads joint or perSensor, those of a [Plan]; "" is joint.
func ParseGuarantee(s string) (Guarantee, error) {
	return parseEnum[Guarantee]("guarantee", s, "joint", "perSensor")
}

func (r Randomness) String() string { return enumName(int(r), "system", "escrow") }

// MarshalText writes system or escrow.
func (r Randomness) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads system or escrow.
func (r *Randomness) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRandomness(string(text))
	return err
}

// ParseRandomness reads system or escrow; "" is system.
func ParseRandomness(s string) (Randomness, error) {
	return parseEnum[Randomness]("randomness", s, "system", "escrow")
}

func enumName(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseEnum[T ~int](what, s string, names ...string) (T, error) {
	if i := slices.Index(names, s); i >= 0 || s == "" {
		return T(max(0, i)), nil
	}
	return 0, fmt.Errorf("privacy: %s is %q, want one of %v", what, s, names)
}

const (
	SystemRandomness Randomness = iota // the operating system; nobody can remove the noise
	EscrowRandomness                   // a master secret; its holder can (SIM-CDP)
)

// Public describes the public model behind a plan. GraphDigest ties the plan to one graph, and OperatorDigest to a given operator;
// the rest is for the reader and enters the plan's digest.
type Public struct {
	GraphDigest       Digest  `json:"graphDigest"`
	NodeCount         int     `json:"nodeCount"`
	RelationshipCount int     `json:"relationshipCount"`
	ComponentCount    int     `json:"componentCount"`
	Tau               float64 `json:"tau"`       // 0 with a given operator
	Laplacian         string  `json:"laplacian"` // "" with a given operator
	OperatorDigest    Digest  `json:"operatorDigest,omitzero"`
	Metric            string  `json:"metric"` // "hops", or the length property
	Alpha             float64 `json:"alpha"`  // radius of neighbours in the metric
}

// Sensitivity is a certified bracket of α·max ‖diag(√u)·M_S(e_i − e_j)‖₂/d(i,j)
// over the edges. Upper is what is charged.
type Sensitivity struct {
	Lower   float64     `json:"lower"`
	Upper   float64     `json:"upper"`
	Edge    [2]graph.ID `json:"edge"`              // where Lower is attained
	Failure float64     `json:"failure,omitempty"` // probability β that Upper is not a bound, over Seed
	Seed    Digest      `json:"seed,omitzero"`     // of the random vectors: certificates of one seed fail together
}

// Spec is what a plan is made from. Nothing in it may depend on a reading.
type Spec struct {
	Public
	Budget
	Calibration Calibration // nil: Analytic
	Guarantee   Guarantee
	Randomness  Randomness

	Sensors []Sensor
	Weights []float64 // u, one a sensor: σ_s ∝ 1/√u_s where Joint; 0: silent; nil: all 1

	// Sensitivity is the joint bracket under Weights. For PerSensor it may be zero;
	// where given, the joint μ is reported as well.
	Sensitivity Sensitivity
	// PerSensor holds, for the PerSensor guarantee, α·max|M_si − M_sj|/d(i,j) of
	// each sensor, without weights, rounded up.
	PerSensor []float64

	// EntryError η bounds |computed y_s − y_s| for every admissible source and
	// sensor; NormError η₂ bounds the whole vector in ‖·‖₂. The cheaper one is
	// charged where both are positive. Both 0: the sensors measure y themselves.
	EntryError, NormError float64

	// Uncertainty is what Sensitivity covers beside the model itself.
	Uncertainty Uncertainty

	// Clip is the public range of readings; zero is [0, 1].
	Clip Interval
}

// Uncertainty is how far the process behind measured readings may be from the public
// model, with the guarantee still holding. The zero value allows nothing.
type Uncertainty struct {
	TauFrom float64 `json:"tauFrom,omitzero"` // both ends 0: Public.Tau alone
	TauTo   float64 `json:"tauTo,omitzero"`
	// so many listed graphs may be the true one, each over the same τ, or so many further given operators
	Alternatives int `json:"alternatives,omitzero"`
	// AlternativesDigest is that of those graphs or operators.
	AlternativesDigest Digest `json:"alternativesDigest,omitzero"`
}

// Tau is what τ may be; zero: Public.Tau alone.
func (u Uncertainty) Tau() tau.Range { return tau.Range{From: u.TauFrom, To: u.TauTo} }

// Any reports whether anything is allowed.
func (u Uncertainty) Any() bool { return u != Uncertainty{} }

// Sensor names a sensor: its node's number and id.
type Sensor struct {
	Node int      `json:"node"`
	ID   graph.ID `json:"nodeId"`
}

// SensorNoise is what one reporting sensor adds.
type SensorNoise struct {
	Sensor
	Exponent int     `json:"latticeExponent"` // lattice g = 2^Exponent
	Steps    int64   `json:"steps"`           // S: σ = S·g
	Weight   float64 `json:"weight"`          // u; 1 where noise is uniform
	Bound    float64 `json:"bound,omitempty"` // PerSensor only: the certified sensitivity of this sensor
}

// Sigma returns σ = S·2^k, exactly.
func (s SensorNoise) Sigma() float64 { return timesPower(float64(s.Steps), s.Exponent) }

// Step returns the lattice constant g = 2^k.
func (s SensorNoise) Step() float64 { return timesPower(1, s.Exponent) }

// timesPower is math.Ldexp, in one product where 2^k is a normal number.
func timesPower(x float64, k int) float64 {
	if k < -1022 || k > 1023 {
		return math.Ldexp(x, k)
	}
	return x * math.Float64frombits(uint64(k+1023)<<52)
}

// Plan holds everything about a release but the readings and the noise. All of it
// is public. NewPlan makes one; a plan read from JSON was checked again.
type Plan struct {
	Public
	Budget
	Calibration Calibration
	Guarantee   Guarantee
	Randomness  Randomness
	Sensitivity Sensitivity
	EntryError  float64
	NormError   float64
	Uncertainty Uncertainty
	Clip        Interval
	Sensors     []SensorNoise // reporting sensors, in the order of the Spec

	// Mu is the μ of Gaussian differential privacy that is charged: of the whole
	// vector (Joint), or of the worst sensor (PerSensor). Rounded up.
	Mu float64
	// JointMu bounds μ of the whole vector; it is Mu for Joint, and for PerSensor a
	// number that is reported and promises nothing.
	JointMu float64
}

// Given reports whether the readings are those of a given operator, not of e^{-τL}.
func (p *Plan) Given() bool { return p.OperatorDigest != Digest{} }

// Measured reports whether sensors measure the readings themselves: the plan charges no
// numerical error.
func (p *Plan) Measured() bool { return p.EntryError == 0 && p.NormError == 0 }

// ratio returns σ/Δ of the calibration at (ε, δ − β).
func (p *Plan) ratio() (float64, error) {
	return p.Calibration.Sigma(p.net(), 1)
}

// net returns the budget that is left for the noise.
func (p *Plan) net() Budget {
	b := p.Budget
	if f := p.Sensitivity.Failure; f > 0 {
		b.Delta = math.Nextafter(b.Delta-f, 0)
	}
	return b
}

// slack covers the rounding of σ and of the sums over m sensors: S is chosen for a
// sensitivity larger by this factor.
func (p *Plan) slack() float64 { return 1 + float64(len(p.Sensors)+256)*0x1p-50 }

// allocate sets σ_s = c/√u_s, rounded up to the lattice, with c = r·Δ'_w.
func (p *Plan) allocate(r float64) error {
	first := r * (p.Sensitivity.Upper + p.numericalError(func(s SensorNoise) float64 { return math.Sqrt(s.Weight) }))
	var sum float64
	for i := range p.Sensors {
		s := &p.Sensors[i]
		s.Exponent = p.Clip.exponent(first / math.Sqrt(s.Weight))
		sum += float64(s.Weight * s.Step() * s.Step())
	}
	rounding := up(math.Sqrt(sum), len(p.Sensors)+4)
	// ‖(g_s + 2η)√u_s‖ ≤ ‖g_s√u_s‖ + 2η‖√u‖.
	c := p.slack() * r * (p.Sensitivity.Upper + rounding + p.numericalError(func(s SensorNoise) float64 { return math.Sqrt(s.Weight) }))
	for i := range p.Sensors {
		s := &p.Sensors[i]
		if err := s.setSteps(c / math.Sqrt(s.Weight)); err != nil {
			return err
		}
	}
	return nil
}

// allocatePerSensor gives each sensor the noise of its own worst edge.
func (p *Plan) allocatePerSensor(r float64) error {
	eta := 2 * p.entryError()
	for i := range p.Sensors {
		s := &p.Sensors[i]
		s.Exponent = p.Clip.exponent(r * (s.Bound + eta))
		if err := s.setSteps(p.slack() * r * (s.Bound + s.Step() + eta)); err != nil {
			return err
		}
	}
	return nil
}

// setSteps rounds sigma up to the lattice.
func (s *SensorNoise) setSteps(sigma float64) error {
	steps := math.Ceil(math.Ldexp(sigma, -s.Exponent))
	if !(steps >= 1 && steps <= maxSteps) || s.Exponent < -maxExponent || s.Exponent > maxExponent {
		return fmt.Errorf("privacy: sensor %q needs σ = %v on a lattice of 2^%d, out of range", s.ID, sigma, s.Exponent)
	}
	s.Steps = int64(steps)
	return nil
}

// charge returns Mu and JointMu of the noise as it stands, rounded up. Its bits are
// the same on every platform, so that a plan is checked where it was not made: the
// conversions keep products and sums from being fused.
//
// Proof: docs/proofs/plan.md.
func (p *Plan) charge() (mu, joint float64) {
	ulps := 2*len(p.Sensors) + 16
	inverse := func(s SensorNoise) float64 { return 1 / s.Sigma() }
	var scale, sum, each, worst float64
	for _, s := range p.Sensors {
		g := s.Step() / s.Sigma()
		sum += float64(g * g)
		scale = max(scale, 1/(s.Sigma()*math.Sqrt(s.Weight)))
		if p.Guarantee == PerSensor {
			m := (s.Bound + s.Step() + 2*p.entryError()) / s.Sigma()
			worst = max(worst, m)
			each += float64(m * m)
		}
	}
	rest := up(math.Sqrt(sum)+p.numericalError(inverse), ulps)
	if p.Guarantee == Joint {
		mu = up(float64(p.Sensitivity.Upper*scale)+rest, 16)
		return mu, mu
	}
	joint = math.Sqrt(each)
	if p.Sensitivity.Upper > 0 {
		joint = min(joint, float64(p.Sensitivity.Upper*scale)+rest)
	}
	return up(worst, 16), up(joint, ulps)
}

// numericalError returns what numerical errors add to the sensitivity of the map whose
// coordinates are scaled by scale: the lesser of 2η·‖scale‖₂ and 2η₂·max scale.
func (p *Plan) numericalError(scale func(SensorNoise) float64) float64 {
	if p.EntryError == 0 && p.NormError == 0 {
		return 0
	}
	var sum, largest float64
	for _, s := range p.Sensors {
		x := scale(s)
		sum += float64(x * x)
		largest = max(largest, x)
	}
	entry, norm := float64(2*p.EntryError*math.Sqrt(sum)), float64(2*p.NormError*largest)
	if entry == 0 || norm == 0 {
		return entry + norm
	}
	return min(entry, norm)
}

// entryError bounds the error of one coordinate; ‖·‖_∞ ≤ ‖·‖₂.
func (p *Plan) entryError() float64 {
	if p.EntryError == 0 || p.NormError == 0 {
		return p.EntryError + p.NormError
	}
	return min(p.EntryError, p.NormError)
}

// Sigma returns the common σ, or 0 where sensors differ.
func (p *Plan) Sigma() float64 {
	if len(p.Sensors) == 0 {
		return 0
	}
	first := p.Sensors[0].Sigma()
	for _, s := range p.Sensors {
		if s.Sigma() != first {
			return 0
		}
	}
	return first
}

// Cost returns what one release costs in the ledger: ρ of Mu.
func (p *Plan) Cost() Cost {
	c, err := CostOf(p.Mu)
	if err != nil {
		return math.MaxInt64 // not a valid plan: no cap has room for it
	}
	return c
}
