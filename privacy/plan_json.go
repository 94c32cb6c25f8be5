// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

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

// arrayPiece is the number of elements that are marshalled at a time.
const arrayPiece = 1 << 10

// marshalArray marshals x as encoding/json does, in pieces on all processors.
func marshalArray[T any](x []T) ([]byte, error) {
	texts := make([][]byte, (len(x)+arrayPiece-1)/arrayPiece)
	errs := make([]error, len(texts))
	parallel.Rows(len(texts), 1<<14, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			text, err := json.Marshal(x[p*arrayPiece : min((p+1)*arrayPiece, len(x))])
			if err != nil {
				errs[p] = err
				continue
			}
			text[0] = ',' // [a,b] becomes ,a,b
			texts[p] = text[:len(text)-1]
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	all := append(slices.Concat(texts...), ']')
	if len(x) == 0 {
		return []byte("[]"), nil
	}
	all[0] = '['
	return all, nil
}

// member is one of an object's, with the text of its value.
type member struct {
	name  string
	value []byte
}

// extended returns pieces of the text of an object that has some members already and gets these, its end last.
func extended(object []byte, members ...member) [][]byte {
	pieces := [][]byte{object[:len(object)-1]}
	for _, m := range members {
		pieces = append(pieces, []byte(`,"`+m.name+`":`), m.value)
	}
	return append(pieces, []byte("}"))
}

// Digest returns SHA-256 of the plan's JSON. A run asks for it again and again, and the text of
// many sensors takes time: the last digest is kept beside a key of all that the text is made of.
func (p *Plan) Digest() (Digest, error) {
	head, err := p.marshalHead()
	if err != nil {
		return Digest{}, err
	}
	key := p.contentKey(head)
	if last := lastDigest.Load(); last != nil && last.key == key {
		return last.digest, nil
	}
	sensors, err := p.marshalSensors()
	if err != nil {
		return Digest{}, err
	}
	d := planDigest(extended(head, member{"sensors", sensors})...)
	lastDigest.Store(&knownDigest{key, d})
	return d, nil
}

// knownDigest is the digest of the plan with a key. A plan that was changed has another.
type knownDigest struct{ key, digest Digest }

var lastDigest atomic.Pointer[knownDigest]

// contentKey is a collision-free hash of the text of a plan without sensors, and of the fields
// of the sensors: of their digests by pieces, as it is computed in this process alone.
func (p *Plan) contentKey(head []byte) Digest {
	pieces := make([]Digest, (len(p.Sensors)+arrayPiece-1)/arrayPiece)
	parallel.RowsWith(len(pieces), 1<<14, func() *[]byte { return new([]byte) }, func(memory *[]byte, lo, hi int) {
		for k := lo; k < hi; k++ {
			text := (*memory)[:0]
			for _, s := range p.Sensors[k*arrayPiece : min((k+1)*arrayPiece, len(p.Sensors))] {
				text = s.appendTo(text)
			}
			pieces[k], *memory = sha256.Sum256(text), text
		}
	})
	parts := [][]byte{[]byte("graphcloak/plan content"), head}
	for k := range pieces {
		parts = append(parts, pieces[k][:])
	}
	return hash(parts...)
}

// appendTo appends all fields, the only one of variable length behind its length.
func (s SensorNoise) appendTo(text []byte) []byte {
	for _, v := range [...]uint64{
		uint64(s.Node), uint64(s.Exponent), uint64(s.Steps), math.Float64bits(s.Weight), math.Float64bits(s.Bound), uint64(len(s.ID)),
	} {
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	return append(text, s.ID...)
}
