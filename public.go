// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"errors"
	"fmt"
	"slices"
)

// ErrSignalPublic says that a property is the signal and is read as public too.
// What is public shapes plan and report without noise, and would name the source
// under an unchanged guarantee.
var ErrSignalPublic = errors.New("graphcloak: the signal is declared public")

// public lists the properties that are read without noise: those that the model is
// made from, and what else a plan or a report rests on. Names are compared exactly;
// a property that a query of the user's reads cannot be seen.
func public(s Settings, more ...string) []string {
	names := append([]string{
		s.Selection.NodeKey, s.Selection.RelationshipWeightProperty, s.Selection.LengthProperty, s.Sensors.Property,
	}, more...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// PublicProperties lists the properties that an analyst reads, "" for none.
func (o RecoverOptions) PublicProperties() []string {
	return []string{o.Communities.Property, o.PriorProperty}
}

// public lists the properties that a job reads as public.
func (j Job) public() []string {
	a := j.Plan.Allocation
	return public(j.Settings, append(j.Recover.PublicProperties(), a.Communities.Property, a.PriorProperty)...)
}

// CheckSignal refuses a job whose signal is among its public properties, with
// [ErrSignalPublic]. It reads nothing; every function that takes a signal repeats it.
func (j Job) CheckSignal() error { return j.Signal.hidden(j.public()) }

// CheckSignal refuses a signal that the plan rests on, with [ErrSignalPublic].
func (p *Plan) CheckSignal(s Signal) error { return s.hidden(public(p.Model, p.PublicProperties...)) }

// AddPublicProperties says that what stands in the plan rests on further properties,
// which were read without noise.
func (p *Plan) AddPublicProperties(names ...string) {
	p.PublicProperties = public(p.Model, append(names, p.PublicProperties...)...)
}

// hidden refuses a signal that is public.
func (s Signal) hidden(public []string) error {
	for _, name := range []string{s.SourceProperty, s.MeasurementProperty} {
		if slices.Contains(public, name) {
			return fmt.Errorf("%w: %q is read as a sensor, community, prior, key, weight or length property too, now or by the plan", ErrSignalPublic, name)
		}
	}
	return nil
}

// validate refuses a signal that is not exactly one thing.
func (s Signal) validate() error {
	given := 0
	for _, is := range []bool{s.SourceProperty != "", s.MeasurementProperty != "", s.Cloaked} {
		if is {
			given++
		}
	}
	switch given {
	case 0:
		return fmt.Errorf("%w: name a source property or a measurement property", ErrNoSignal)
	case 1:
		return nil
	}
	return fmt.Errorf("%w: more than one of source property, measurement property and cloaked sensors is given", ErrNoSignal)
}
