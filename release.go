// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Signal says what the sensors see. Exactly one is set.
type Signal struct {
	SourceProperty      string `json:"sourceProperty,omitempty"`      // f₀ in [0, 1]; GraphCloak diffuses it
	MeasurementProperty string `json:"measurementProperty,omitempty"` // y, measured by the sensors
	Cloaked             bool   `json:"cloaked,omitempty"`             // the sensors add the noise themselves; see [Model.Collect]

	// AllowZero releases sources of no mass too, which are refused with [ErrZeroSignal]
	// otherwise: mostly the property is on nodes that were not selected.
	AllowZero bool `json:"-"`
}

// Release is a private measurement with the model that it belongs to. Its JSON
// form is a release file: recovery needs nothing else but the graph.
type Release struct {
	*privacy.Release
	Model     Settings
	Signal    Signal     // what was released, by name
	Allocated *Allocated // nil: uniform noise
}

// releaseDocument is a release file. Guarantee and NotProtected are for the
// reader; they follow from the plan.
type releaseDocument struct {
	SchemaVersion int              `json:"schemaVersion"`
	Digest        privacy.Digest   `json:"documentDigest"`
	Guarantee     string           `json:"guarantee"`
	NotProtected  []string         `json:"notProtected"`
	Model         *Settings        `json:"model"`
	Signal        Signal           `json:"signal"`
	Allocated     *Allocated       `json:"allocation,omitempty"`
	Release       *privacy.Release `json:"release"`
}

// MarshalJSON writes a release file.
func (r *Release) MarshalJSON() ([]byte, error) {
	p := r.Plan()
	fields, err := merge(releaseDocument{
		Guarantee: p.Sentence(), NotProtected: report.Exposed(p.ComponentCount),
		Model: &r.Model, Signal: r.Signal, Allocated: r.Allocated, Release: r.Release,
	})
	if err != nil {
		return nil, err
	}
	return seal(fields)
}

// UnmarshalJSON reads a release file and checks the release and its plan. What
// follows from other parts of the file is computed again and compared.
func (r *Release) UnmarshalJSON(data []byte) error {
	if err := r.unmarshal(data); err != nil {
		return fmt.Errorf("read release: %w", err)
	}
	return nil
}

func (r *Release) unmarshal(data []byte) error {
	var fields map[string]json.RawMessage
	if err := strictjson.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := checkVersion(fields, "release file"); err != nil {
		return err
	}
	var d releaseDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return err
	}
	if d.Model == nil || d.Release == nil {
		return fmt.Errorf("%w: there is no model or no release in it; is this a release file?", strictjson.ErrInvalid)
	}
	if err := d.Signal.validate(); err != nil {
		return err
	}
	if err := d.Signal.hidden(public(*d.Model)); err != nil {
		return err
	}
	q := Release{Release: d.Release, Model: *d.Model, Signal: d.Signal, Allocated: d.Allocated}
	if err := q.Model.describes(q.Plan().Public); err != nil {
		return err
	}
	if q.Allocated != nil && q.Allocated.Uniform.Accuracy != nil && !q.Allocated.Uniform.Accuracy.Possible() {
		return fmt.Errorf("%w: expectedAccuracy is not what so many trials can give", strictjson.ErrInvalid)
	}
	if p := q.Plan(); q.Signal.SourceProperty != "" && p.NormError == 0 && p.EntryError == 0 {
		return fmt.Errorf("%w: computed values were released, and the error of computing them is not charged", strictjson.ErrInvalid)
	}
	if err := restates(data, &q); err != nil {
		return err
	}
	*r = q
	return nil
}

// readings returns y at the sensors of the plan, and refuses bad input before
// anything is spent.
func (m *Model) readings(ctx context.Context, p *Plan, s Signal) ([]float64, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if err := s.hidden(public(m.Settings, p.PublicProperties...)); err != nil {
		return nil, err
	}
	switch {
	case s.SourceProperty != "":
		return m.diffused(ctx, p, s)
	case s.MeasurementProperty != "":
		return m.measured(ctx, p, s.MeasurementProperty)
	}
	return nil, fmt.Errorf("%w: sensors that add their noise themselves have no property to read", ErrNoSignal)
}

// diffused returns M f₀.
func (m *Model) diffused(ctx context.Context, p *Plan, s Signal) ([]float64, error) {
	property := s.SourceProperty
	if m.operator.Diffusion.Method() == expm.Lanczos {
		return nil, fmt.Errorf("%w: Lanczos takes a time that depends on the sources", ErrSignalKind)
	}
	if p.NormError == 0 {
		return nil, fmt.Errorf("%w: it is for measured values and does not charge the error of a computed diffusion", ErrSignalKind)
	}
	if e := m.computingError(); e > p.NormError || p.EntryError > 0 && e > p.EntryError {
		return nil, fmt.Errorf("%w: the computed diffusion may be off by %v, the plan charges %v", ErrGraphChanged, e, p.NormError)
	}
	f, err := m.store.Signal(ctx, m.Graph, property)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	outside, mass := 0, false
	for i, v := range f {
		mass = mass || v > 0
		switch {
		case math.IsNaN(v):
			f[i] = 0 // a node without the property is no source
		case v < 0 || v > 1:
			outside++
		}
	}
	if outside > 0 {
		return nil, badSignal(property, "is outside [0, 1]", outside)
	}
	if !mass && !s.AllowZero { // no neighbour has mass either: total mass is public
		return nil, fmt.Errorf("%w: %q is zero or missing on every selected node", ErrZeroSignal, property)
	}
	y := make([]float64, m.Graph.Order())
	if err := m.operator.Diffusion.MulPrivateTo(ctx, y, f); err != nil {
		return nil, err
	}
	out := make([]float64, len(p.Sensors))
	for k, s := range p.Sensors {
		out[k] = y[s.Node]
	}
	return out, ctx.Err()
}

// ErrBadSignal says that a property holds values that no sensor can have. The error
// counts them, and names neither nodes nor values.
var ErrBadSignal = errors.New("graphcloak: bad signal")

// ErrSignalKind says that the plan cannot pay for sources that are diffused here.
var ErrSignalKind = errors.New("graphcloak: the plan does not serve a source property")

// ErrZeroSignal says that there is no source at all in the selection.
var ErrZeroSignal = errors.New("graphcloak: nothing to hide")

func badSignal(property, wrong string, count int) error {
	return fmt.Errorf("%w: %w", ErrBadSignal, &privacy.ReadingsError{Property: property, Wrong: wrong, Count: count})
}

// measured returns the readings of a property. Every reporting sensor needs one.
func (m *Model) measured(ctx context.Context, p *Plan, property string) ([]float64, error) {
	y, err := m.store.Signal(ctx, m.Graph, property)
	if err != nil {
		return nil, fmt.Errorf("read measurements: %w", err)
	}
	missing := 0
	out := make([]float64, len(p.Sensors))
	for k, s := range p.Sensors {
		if out[k] = y[s.Node]; math.IsNaN(out[k]) {
			missing++
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%w; choose the sensors that have it by a sensor label or property", badSignal(property, "is missing", missing))
	}
	return out, nil
}

// Release spends the plan's budget and releases. The signal is read and checked
// first, the spend is durable before the noise is drawn, and nothing is refunded.
func (m *Model) Release(ctx context.Context, p *Plan, s Signal, c Spend) (*Release, error) {
	if err := m.accept(ctx, p); err != nil {
		return nil, err
	}
	y, err := m.readings(ctx, p, s)
	if err != nil {
		return nil, err
	}
	a, draw, err := m.attempt(p, Job{Signal: s, Scope: c.Scope, RunID: c.ReleaseID, Noise: c.Noise}, y, c.Attempt)
	if err != nil {
		return nil, err
	}
	return m.pay(ctx, a, report.Table{}, Job{RunID: c.ReleaseID, RequireCap: c.RequireCap}, draw)
}

// ErrKey says that a key is missing where noise is derived from one, or given
// where it is not.
var ErrKey = errors.New("graphcloak: a key goes with escrow randomness, and only there")

// attempt prepares a release for payment, and says how it is drawn then. What could
// stop it is checked first.
func (m *Model) attempt(p *Plan, job Job, y []float64, token string) (*Attempt, func() (*Release, error), error) {
	if err := checkKey(p, job.Noise); err != nil {
		return nil, nil, err
	}
	if err := p.CheckReadings(y); err != nil {
		return nil, nil, err
	}
	a := &Attempt{
		Scope: m.scope(job.Scope, job.Signal), ReleaseID: job.RunID, Token: token, Signal: job.Signal, AllowZero: job.Signal.AllowZero, Plan: p,
	}
	return a, func() (*Release, error) { return m.draw(a, y, job.Noise) }, nil
}

func checkKey(p *Plan, noise privacy.Noise) error {
	if _, escrow := noise.(*privacy.Escrow); escrow != (p.Randomness == privacy.EscrowRandomness) {
		return fmt.Errorf("%w: the plan asks for %s randomness", ErrKey, p.Randomness)
	}
	return nil
}

// spend pays from a ledger whose chain is whole, and from a scope that has a cap
// where that is required.
func (m *Model) spend(ctx context.Context, c privacy.Charge, capped bool) error {
	l := m.store.Ledger()
	if err := m.checkCap(ctx, c.Scope, capped); err != nil {
		return err
	}
	if err := Continue(ctx, l, c.Scope); err != nil {
		return err
	}
	account, err := privacy.VerifyLedger(ctx, l, c.Scope)
	if err != nil {
		return fmt.Errorf("check the ledger: %w", err)
	}
	if e, err := privacy.PaidBefore(ctx, l, account, c); e != nil || err != nil {
		return err
	}
	if _, err := privacy.Spend(ctx, l, c); err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	return nil
}

// Spend identifies a release in the ledger.
type Spend struct {
	Scope      string        // data that the budget protects; "": the property's own, see [Scope]
	ReleaseID  string        // unique in its scope
	Attempt    string        // token of this attempt
	Noise      privacy.Noise // nil: the operating system's
	RequireCap bool          // refuse a scope without a cap, with [ErrNoCap]
}
