// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/privacy"
)

// found is findable for a command whose settings say what was read.
func (a *app) found(err error) error {
	if a.config == nil {
		return err
	}
	set, bad := modelSettings(a.config)
	if bad != nil {
		return err
	}
	return a.findable(err, set, signalOf(a.config))
}

// findable adds to an error about a private property how the user finds what is
// wrong: the error itself names neither nodes nor values.
func (a *app) findable(err error, set graphcloak.Settings, signal graphcloak.Signal) error {
	e, ok := errors.AsType[*privacy.ReadingsError](err)
	if f, told := errors.AsType[*failure](err); !ok || told && f.suggestion != "" {
		return err
	}
	if from, unnamed := a.source(); unnamed != nil || from.Kind != config.FromNeo4j {
		return fail(exitValidation, "%w", err).hint("look through the column %s of nodes.csv", e.Property)
	}
	lo, hi, needed := 0.0, math.MaxFloat64, false // a prior
	switch e.Property {
	case signal.SourceProperty:
		hi = 1
	case signal.MeasurementProperty:
		lo, needed = -math.MaxFloat64, true
	}
	return fail(exitValidation, "%w", err).
		hint("find them with %s", connector.FindReadings(set.Selection, set.Sensors, e.Property, lo, hi, needed))
}
