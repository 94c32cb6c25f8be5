// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/graphcloak/graphcloak/privacy"
)

// Signal says what is measured. Exactly one of the first four fields is set.
type Signal struct {
	SourceProperty      string `json:"sourceProperty,omitempty"`      // f₀ in [0, 1]; GraphCloak diffuses it
	MeasurementProperty string `json:"measurementProperty,omitempty"` // y, measured by the sensors
	AnswerProperty      string `json:"answerProperty,omitempty"`      // yes or no, of each person who is asked
	Cloaked             bool   `json:"cloaked,omitempty"`             // the sensors add the noise themselves

	// Values are those of the property, one for each node of the graph by its number, NaN where it has
	// none; nil: they are read from the store. What is kept of a run does not hold them: set them in its
	// Signal before it is resumed.
	Values []float64 `json:"-"`
	// Sent are the values of sensors that add the noise themselves.
	Sent []privacy.SensorValue `json:"-"`
}

// Property is the private property that is released, "" where sensors add the noise.
func (s Signal) Property() string { return s.SourceProperty + s.MeasurementProperty + s.AnswerProperty }

// ErrSignalPublic says that a property is the signal and is read as public too.
// What is public shapes plan and report without noise, and would name the source
// under an unchanged guarantee.
var ErrSignalPublic = errors.New("graphcloak: the signal is declared public")

// ErrNoSignal says that a run has nothing to release.
var ErrNoSignal = errors.New("graphcloak: no signal")

// IsZero reports whether nothing is to be released.
func (s Signal) IsZero() bool { return s.Property() == "" && !s.Cloaked }

// CheckPrivate refuses a signal that is public.
func (s Signal) CheckPrivate(public []string) error {
	for _, name := range []string{s.SourceProperty, s.MeasurementProperty, s.AnswerProperty} {
		if slices.Contains(public, name) {
			return fmt.Errorf("%w: %q is read as a sensor, community, prior, key, weight or length property too, now or by the plan",
				ErrSignalPublic, name)
		}
	}
	return nil
}

// Validate refuses a signal that is not exactly one thing.
func (s Signal) Validate() error {
	given := 0
	for _, is := range []bool{s.SourceProperty != "", s.MeasurementProperty != "", s.AnswerProperty != "", s.Cloaked} {
		if is {
			given++
		}
	}
	switch given {
	case 0:
		return fmt.Errorf("%w: name a source property, a measurement property or an answer property", ErrNoSignal)
	case 1:
		return nil
	}
	return fmt.Errorf("%w: more than one of source property, measurement property, answer property and cloaked sensors is given",
		ErrNoSignal)
}
