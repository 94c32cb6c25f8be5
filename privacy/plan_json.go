// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

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
func (p *Plan) MarshalJSON() ([]byte, error) { return strictjson.Text(p.writeJSON) }

func (p *Plan) writeJSON(w io.Writer) error {
	head, err := p.head()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `%s,"sensors":`, head[:len(head)-1]); err != nil {
		return err
	}
	err = strictjson.WriteList(w, len(p.Sensors), func(i int) sensorElement { return sensorElement{p.Sensors[i], p.Sensors[i].Sigma()} })
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "}")
	return err
}

// head returns a planHead as JSON.
func (p *Plan) head() ([]byte, error) {
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

// Digest returns SHA-256 of the plan's JSON. A run asks for it again and again, and the text of many sensors takes time: the last
// digest is kept, beside that of all that the text is made of.
func (p *Plan) Digest() (Digest, error) {
	head, err := p.head()
	if err != nil {
		return Digest{}, err
	}
	content := p.contentDigest(head)
	if last := lastDigest.Load(); last != nil && last.content == content {
		return last.digest, nil
	}
	h := partsHash{sha256.New()}
	h.add([]byte("graphcloak/v1/plan"))
	size, err := strictjson.Length(p.writeJSON)
	if err != nil {
		return Digest{}, err
	}
	h.begin(size)
	if err := p.writeJSON(h); err != nil {
		return Digest{}, err
	}
	d := h.sum()
	lastDigest.Store(&knownDigest{content, d})
	return d, nil
}

// contentDigest is SHA-256 of the head and of all that is in the sensors.
func (p *Plan) contentDigest(head []byte) Digest {
	h := partsHash{sha256.New()}
	h.add(head)
	const most = 1 << 14 // bytes that are hashed at once
	var part []byte
	for _, s := range p.Sensors {
		for _, v := range [...]uint64{
			uint64(s.Node), uint64(s.Exponent), uint64(s.Steps), math.Float64bits(s.Weight), math.Float64bits(s.Bound), uint64(len(s.ID)),
		} {
			part = binary.BigEndian.AppendUint64(part, v)
		}
		if part = append(part, s.ID...); len(part) > most {
			h.Write(part)
			part = part[:0]
		}
	}
	h.Write(part)
	return h.sum()
}

// knownDigest is the digest of the plan with a content.
type knownDigest struct{ content, digest Digest }

var lastDigest atomic.Pointer[knownDigest]
