// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/document"
	"github.com/graphcloak/graphcloak/report"
)

// Plan is all that is public about a release before it is made. Its JSON form is
// a plan file, which rebuilds the model.
type Plan struct {
	*privacy.Plan
	Model     Settings
	Seed      [32]byte         // of the certificate's random screen
	Accuracy  *report.Accuracy // by simulation; nil: unknown
	TauChoice *TauChoice       // how τ was chosen; nil: it was given. Not in the file
	// Allocated says how the noise was allocated; nil: uniformly.
	Allocated *Allocated
	// Communities are those that τ or the noise was chosen for, or the accuracy simulated with; nil: nothing rests on any,
	// or the file does not say.
	Communities *PlannedCommunities
	// UniformReason says why noise is uniform although it might have been allocated; "": it is
	// allocated, or uniform was asked for. Not in the file.
	UniformReason string
	// Simulated compares an allocation that was found with uniform noise, where it told no more and the noise is
	// uniform; nil: none was found, or the noise is allocated.
	Simulated *allocation.Simulated
	// PublicProperties are read without noise, by the model, the plan or its expected
	// accuracy: none of them can be the signal. Ascending.
	PublicProperties []string
	// Warnings say for the reader what will disappoint about the plan; nothing rests on them.
	Warnings []string

	certified privacy.Digest // of the plan whose sensitivity this process has certified
}

// Allocated describes an allocation of noise beside the uniform one that gives the
// same guarantee.
type Allocated struct {
	Objective allocation.Objective `json:"objective"`
	CutShort  bool                 `json:"cutShort,omitempty"`      // the time ended the search
	Prior     string               `json:"priorProperty,omitempty"` // public property that shaped the noise; "": flat
	// Simulated compares it with uniform noise, where the search itself did; nil: it did not.
	Simulated *allocation.Simulated `json:"simulated,omitempty"`
	Uniform   Uniform               `json:"uniform"`
}

// Uniform is the paper's noise at the same guarantee.
type Uniform struct {
	Sigma       float64             `json:"sigma"`
	SensorCount int                 `json:"sensorCount"`
	Sensitivity privacy.Sensitivity `json:"sensitivity"` // of M itself, without weights
	Accuracy    *report.Accuracy    `json:"expectedAccuracy,omitempty"`
}

// Noise describes the σ of the sensors.
func (p *Plan) Noise() report.Noise { return Noise(p.Plan, p.Allocated) }

func Noise(p *privacy.Plan, a *Allocated) report.Noise {
	sigmas, uniform := make([]float64, len(p.Sensors)), 0.0
	for k, s := range p.Sensors {
		sigmas[k] = s.Sigma()
	}
	if a != nil {
		uniform = a.Uniform.Sigma
	}
	return report.NewNoise(sigmas, uniform)
}

// UniformSigma returns σ, or that of uniform noise with the same guarantee where
// sensors differ.
func (p *Plan) UniformSigma() float64 {
	if p.Allocated != nil {
		return p.Allocated.Uniform.Sigma
	}
	return p.Sigma()
}

// planExtra is what a plan file holds beside the fields of a privacy plan. Where
// noise is allocated, sensitivity is that of the uniform noise with the same guarantee,
// and whitenedSensitivity is what is charged.
type planExtra struct {
	Model     Settings             `json:"model"`
	Seed      string               `json:"sensitivitySeed"`
	Accuracy  *report.Accuracy     `json:"expectedAccuracy,omitempty"`
	Allocated *Allocated           `json:"allocation,omitempty"`
	Whitened  *privacy.Sensitivity `json:"whitenedSensitivity,omitempty"`
	Public    []string             `json:"publicProperties"`
	Exposed   []string             `json:"notProtected"` // for the reader
	Warnings  []string             `json:"warnings,omitempty"`

	Communities *PlannedCommunities   `json:"communities,omitempty"`
	Simulated   *allocation.Simulated `json:"simulated,omitempty"`
}

// MarshalJSON writes the plan file.
func (p *Plan) MarshalJSON() ([]byte, error) { return document.Joined(p.File()) }

// File is the plan file in pieces: one object with the fields of the privacy plan
// and the model that it belongs to.
func (p *Plan) File() (strictjson.Pieces, error) {
	extra := planExtra{
		Model: p.Model, Seed: hex.EncodeToString(p.Seed[:]), Accuracy: p.Accuracy, Allocated: p.Allocated,
		Simulated: p.Simulated, Public: p.PublicProperties, Exposed: report.Exposed(p.ComponentCount), Warnings: p.Warnings,
		Communities: p.Communities,
	}
	shown := struct {
		Sensitivity privacy.Sensitivity `json:"sensitivity"`
		report.Noise
	}{p.Sensitivity, p.Noise()}
	if p.Allocated != nil {
		extra.Whitened = &p.Sensitivity
		shown.Sensitivity = p.Allocated.Uniform.Sensitivity
	}
	fields := make(map[string]json.RawMessage)
	if err := document.Merge(fields, p.Plan, extra, shown); err != nil {
		return nil, err
	}
	return document.Seal(fields)
}

// UnmarshalJSON reads a plan file and repeats every check of [privacy.NewPlan]. What
// follows from other parts of the file is computed again and compared; whether it fits
// a graph, [Model.Matches] and [Model.Certify] say.
func (p *Plan) UnmarshalJSON(data []byte) error {
	if err := p.unmarshal(data); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return nil
}

func (p *Plan) unmarshal(data []byte) error {
	var fields map[string]json.RawMessage
	if err := strictjson.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := document.CheckVersion(fields, "plan file"); err != nil {
		return err
	}
	delete(fields, document.SealKey)
	own := make(map[string]json.RawMessage)
	for _, name := range []string{
		"model", "sensitivitySeed", "expectedAccuracy", "allocation", "whitenedSensitivity", "simulated",
		"publicProperties", "notProtected", "warnings", "communities",
	} {
		if v, ok := fields[name]; ok {
			own[name] = v
			delete(fields, name)
		}
	}
	if own["model"] == nil {
		return fmt.Errorf("%w: there is no model in it; is this a plan file?", strictjson.ErrInvalid)
	}
	var extra planExtra
	if err := document.Remarshal(own, &extra); err != nil {
		return err
	}
	if whitened, ok := own["whitenedSensitivity"]; ok {
		fields["sensitivity"] = whitened
	}
	for _, name := range []string{"sigmaMin", "sigmaMax", "uniformSigma"} {
		delete(fields, name) // they follow from the sensors, and are compared below
	}
	seed, err := hex.DecodeString(extra.Seed)
	if err != nil || len(seed) != len(p.Seed) {
		return fmt.Errorf("%w: sensitivitySeed is not 64 hexadecimal digits", strictjson.ErrInvalid)
	}
	inner := new(privacy.Plan)
	if err := document.Remarshal(fields, inner); err != nil {
		return err
	}
	q := Plan{
		Plan: inner, Model: extra.Model, Seed: [32]byte(seed), Accuracy: extra.Accuracy,
		Allocated: extra.Allocated, Simulated: extra.Simulated, PublicProperties: extra.Public, Warnings: extra.Warnings,
		Communities: extra.Communities,
	}
	if err := q.consistent(); err != nil {
		return err
	}
	if err := document.CheckRoundTrip(data, &q); err != nil {
		return err
	}
	*p = q
	return nil
}

// consistent refuses what no plan of ours says.
func (p *Plan) consistent() error {
	if p.PublicProperties == nil {
		return fmt.Errorf("%w: publicProperties is no list", strictjson.ErrInvalid)
	}
	if err := p.Model.CheckPlan(p.Public); err != nil {
		return err
	}
	if err := p.Communities.Check(p.NodeCount, p.PublicProperties); err != nil {
		return err
	}
	for _, a := range []*report.Accuracy{p.Accuracy, p.uniformAccuracy()} {
		if a != nil && (!a.Possible() || a.Communities != nil && a.Nodes() != p.NodeCount) {
			return fmt.Errorf("%w: expectedAccuracy is not what so many trials can give", strictjson.ErrInvalid)
		}
	}
	if s := p.Searched(); s != nil && !s.Possible() {
		return fmt.Errorf("%w: simulated is not what so many trials can give", strictjson.ErrInvalid)
	}
	return nil
}

// Searched is what the search for an allocation simulated, whether its result is taken or not; nil: nothing.
func (p *Plan) Searched() *allocation.Simulated {
	if p.Allocated == nil {
		return p.Simulated
	}
	return p.Allocated.Simulated
}

func (p *Plan) uniformAccuracy() *report.Accuracy {
	if p.Allocated == nil {
		return nil
	}
	return p.Allocated.Uniform.Accuracy
}

// CheckSignal refuses a signal that the plan rests on, with [ErrSignalPublic].
func (p *Plan) CheckSignal(s Signal) error {
	return s.CheckPrivate(p.Model.PublicProperties(p.PublicProperties...))
}

// AddPublicProperties says that what stands in the plan rests on further properties,
// which were read without noise.
func (p *Plan) AddPublicProperties(names ...string) {
	p.PublicProperties = p.Model.PublicProperties(append(names, p.PublicProperties...)...)
}
