// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
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
	if f, told := errors.AsType[*failure](err); told && f.suggestion != "" {
		return err
	}
	if errors.Is(err, run.ErrZeroSignal) {
		return a.findableSources(err, signal)
	}
	e, ok := errors.AsType[*privacy.ReadingsError](err)
	if !ok {
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
		hint("find them with %s", neo4j.FindReadings(set.Selection, set.Sensors, e.Property, lo, hi, needed))
}

// findableSources adds to the error about sources of no mass how the user finds which
// nodes have any. Where they are is the secret: it is not looked up.
func (a *app) findableSources(err error, signal graphcloak.Signal) error {
	where := "look through the column " + signal.SourceProperty + " of nodes.csv"
	if from, unnamed := a.source(); unnamed == nil && from.Kind == config.FromNeo4j {
		where = neo4j.FindHolders(signal.SourceProperty) + " shows which labels have it"
	}
	return fail(exitValidation, "%w", err).
		hint("check --source-property and the selection by --node-labels: %s; --allow-zero-signal releases it all the same", where)
}

// explain adds to an error of a scope without a cap what limits it.
func explain(job graphcloak.Job, err error) error {
	if !errors.Is(err, run.ErrNoCap) {
		return err
	}
	return fail(exitBudget, "%w", err).hint("%s", limitFirst(run.Scope(job.Signal)))
}

// limitFirst is the command that gives a scope its cap.
func limitFirst(scope string) string {
	return fmt.Sprintf("limit it first: `graphcloak budget set --create --budget-scope %s --epsilon E --delta D`, with the same "+
		"--from or --uri", quoteShell(scope))
}
