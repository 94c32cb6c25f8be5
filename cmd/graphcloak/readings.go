// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
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
		hint("find them with %s", neo4j.FindReadings(set.Selection, set.Sensors, e.Property, lo, hi, needed))
}

// explain adds to an error what the store knows of it: of sources of no mass the other
// labels whose nodes have the property, of a scope without a cap one with a name like it.
func explain(ctx context.Context, s graphStore, job graphcloak.Job, err error) error {
	if errors.Is(err, graphcloak.ErrNoCap) {
		scopes, failed := s.Ledger().Scopes(ctx)
		if near := suggestScope(job.Scope, scopes); failed == nil && near != "" {
			return fmt.Errorf("%w%s", err, near)
		}
	}
	if !errors.Is(err, graphcloak.ErrZeroSignal) {
		return err
	}
	labels, failed := s.Holders(ctx, job.Signal.SourceProperty)
	labels = slices.DeleteFunc(labels, func(l string) bool { return slices.Contains(job.Selection.NodeLabels, l) })
	if failed != nil || len(labels) == 0 || len(job.Selection.NodeLabels) == 0 {
		return err
	}
	return fail(exitValidation, "%w", err).
		hint("nodes with other labels have %s: %s; select them with --node-labels, or release all the same with --allow-zero-signal",
			job.Signal.SourceProperty, strings.Join(labels, ", "))
}

// checkNotReleased refuses a property that a recorded run has released from the same graph
// as its signal, where it is named as public, or among more as private values.
func checkNotReleased(ctx context.Context, s graphStore, m *graphcloak.Model, job graphcloak.Job, more ...string) error {
	runs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	digest := m.Graph.Digest()
	for _, r := range runs {
		signal, _ := r.Record[report.SignalKey].(string)
		if signal == "" || r.Status == connector.Undone || r.Graph != hex.EncodeToString(digest[:]) {
			continue
		}
		job.Signal = graphcloak.Signal{SourceProperty: signal}
		err := job.CheckSignal()
		if err == nil && slices.Contains(more, signal) {
			err = fmt.Errorf("%w: %q holds no private values", graphcloak.ErrSignalPublic, signal)
		}
		if err != nil {
			return fail(exitUsage, "%w; it is what run %s released", err, r.ID).
				hint("name a public property; `graphcloak run --undo %s` takes back what was released by mistake", r.ID)
		}
	}
	return nil
}
