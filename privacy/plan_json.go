// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// SchemaVersion is the version of the plan, release and package documents.
const SchemaVersion = 1

// planDocument is a plan as JSON. Sigma, Ledger units and the sentence are there
// for readers; they are computed again on reading.
type planDocument struct {
	planHead
	Sensors []sensorElement `json:"sensors"`
}

// planHead is a plan without its sensors.
type planHead struct {
	SchemaVersion int `json:"schemaVersion"`
	Public
	Budget
	Calibration   string      `json:"calibration"`
	Mechanism     string      `json:"mechanism"`
	GuaranteeKind Guarantee   `json:"guaranteeKind"`
	Randomness    Randomness  `json:"randomness"`
	Sensitivity   Sensitivity `json:"sensitivity"`
	EntryError    float64     `json:"entryError"`
	NormError     float64     `json:"normError"`
	Uncertainty   Uncertainty `json:"uncertainty,omitzero"`
	Clip          Interval    `json:"clip"`
	Sigma         *float64    `json:"sigma,omitempty"` // the common one
	Mu            float64     `json:"mu"`
	JointMu       float64     `json:"jointMu"`
	Cost          Cost        `json:"cost"` // ρ in units of 2⁻⁴⁰
	Guarantee     string      `json:"guarantee"`
}

type sensorElement struct {
	SensorNoise
	Sigma float64 `json:"sigma"`
}

// mechanism is the only one: privacy comes from the rounded Gaussian.
const mechanism = "roundedGaussian"

// MarshalJSON writes the plan; the same plan gives the same bytes.
func (p *Plan) MarshalJSON() ([]byte, error) {
	head, sensors, err := p.marshal()
	if err != nil {
		return nil, err
	}
	return slices.Concat(extended(head, member{"sensors", sensors})...), nil
}

// Fields returns the members of the plan's JSON object.
func (p *Plan) Fields() (map[string]json.RawMessage, error) {
	head, sensors, err := p.marshal()
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(head, &fields); err != nil {
		return nil, err
	}
	fields["sensors"] = sensors
	return fields, nil
}

// marshal returns the JSON of the plan without its sensors, and that of the sensors.
func (p *Plan) marshal() (head, sensors []byte, err error) {
	if head, err = p.marshalHead(); err != nil {
		return nil, nil, err
	}
	sensors, err = p.marshalSensors()
	return head, sensors, err
}

func (p *Plan) marshalHead() ([]byte, error) {
	if p.Calibration == nil {
		return nil, errors.New("privacy: the plan names no calibration")
	}
	d := planHead{
		SchemaVersion: SchemaVersion, Public: p.Public, Budget: p.Budget,
		Calibration: p.Calibration.String(), Mechanism: mechanism,
		GuaranteeKind: p.Guarantee, Randomness: p.Randomness, Sensitivity: p.Sensitivity,
		EntryError: p.EntryError, NormError: p.NormError, Uncertainty: p.Uncertainty, Clip: p.Clip,
		Mu: p.Mu, JointMu: p.JointMu, Cost: p.Cost(), Guarantee: p.Sentence(),
	}
	if sigma := p.Sigma(); sigma > 0 {
		d.Sigma = &sigma
	}
	return json.Marshal(d)
}

func (p *Plan) marshalSensors() ([]byte, error) {
	elements := make([]sensorElement, len(p.Sensors))
	parallel.Rows(len(elements), 64, func(lo, hi int) {
		for i, s := range p.Sensors[lo:hi] {
			elements[lo+i] = sensorElement{s, s.Sigma()}
		}
	})
	return marshalArray(elements)
}

// UnmarshalJSON reads a plan and repeats every check of [NewPlan].
func (p *Plan) UnmarshalJSON(data []byte) error {
	var d planDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("privacy: read plan: %w", err)
	}
	if d.SchemaVersion != SchemaVersion {
		return fmt.Errorf("privacy: plan has schema version %d, want %d", d.SchemaVersion, SchemaVersion)
	}
	if d.Mechanism != mechanism {
		return fmt.Errorf("privacy: plan has mechanism %q, want %s", d.Mechanism, mechanism)
	}
	if d.Calibration == "" {
		return errors.New("privacy: the plan names no calibration")
	}
	cal, err := ParseCalibration(d.Calibration)
	if err != nil {
		return err
	}
	q := Plan{
		Public: d.Public, Budget: d.Budget, Calibration: cal, Guarantee: d.GuaranteeKind,
		Randomness: d.Randomness, Sensitivity: d.Sensitivity, EntryError: d.EntryError,
		NormError: d.NormError, Uncertainty: d.Uncertainty, Clip: d.Clip, Mu: d.Mu, JointMu: d.JointMu,
		Sensors: make([]SensorNoise, len(d.Sensors)),
	}
	for i, s := range d.Sensors {
		q.Sensors[i] = s.SensorNoise
		if s.Sigma != s.SensorNoise.Sigma() {
			return fmt.Errorf("privacy: sensor %q states σ = %v, its lattice gives %v", s.ID, s.Sigma, s.SensorNoise.Sigma())
		}
	}
	if err := q.Validate(); err != nil {
		return err
	}
	if d.Cost != q.Cost() {
		return fmt.Errorf("privacy: plan states a cost of %d, its noise costs %d", d.Cost, q.Cost())
	}
	*p = q
	return nil
}

// planDigest is the digest of a plan from the pieces of its text.
func planDigest(text ...[]byte) Digest { return hashJoined([]byte("graphcloak/v1/plan"), text) }

func (g Guarantee) String() string { return enumName(int(g), "joint", "perSensor") }

// MarshalText writes joint or perSensor.
func (g Guarantee) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads joint or perSensor.
func (g *Guarantee) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGuarantee(string(text))
	return err
}

// ParseGuarantee reads joint or perSensor; "" is joint.
func ParseGuarantee(s string) (Guarantee, error) {
	i, err := parseEnum("guarantee", s, "joint", "perSensor")
	return Guarantee(i), err
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
	i, err := parseEnum("randomness", s, "system", "escrow")
	return Randomness(i), err
}

func enumName(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseEnum(what, s string, names ...string) (int, error) {
	if s == "" {
		return 0, nil
	}
	for i, n := range names {
		if s == n {
			return i, nil
		}
	}
	return 0, fmt.Errorf("privacy: %s is %q, want one of %v", what, s, names)
}
