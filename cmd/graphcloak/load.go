// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/advice"
)

// load reads the graph of a job and makes its model. It refuses what
// [checkNotReleased] refuses of the job and of the properties with private values.
func (a *app) load(ctx context.Context, s graphStore, job graphcloak.Job, private ...string) (*graphcloak.Model, error) {
	m, err := a.model(ctx, s, job.Settings)
	if err != nil {
		return nil, err
	}
	return m, checkNotReleased(ctx, s, job, private...)
}

// model reads a graph, tells what the store left out of it, and makes its model.
func (a *app) model(ctx context.Context, s graphStore, set graphcloak.Settings) (*graphcloak.Model, error) {
	opts := graphcloak.LoadOptions{Progress: a.progress, IgnoreMemory: a.config.Execution.Sudo}
	if len(a.config.Projection.Operator) > 0 {
		opts.Operators = func(ctx context.Context, b *response.Builder) error { return a.readOperators(ctx, s, b) }
	}
	m, err := graphcloak.Load(ctx, s, set, opts)
	if err == nil {
		saveMemory(m.Graph.Order() > analyst.DenseLimit)
		a.notices(s)
		a.noteMeasures(ctx, s)
	}
	return m, err
}

// typed is a store that can look at single types of relationships.
type typed interface {
	Kinds(ctx context.Context, types []string) ([]connector.Kind, error)
}

// noteMeasures tells of a weight or a length of the relationships that is not used. It is public,
// as all that stands on relationships is. Where it cannot be read, nothing is said.
func (a *app) noteMeasures(ctx context.Context, s graphStore) {
	t, ok := unwatched(s).(typed)
	p := a.config.Projection
	if !ok || a.quiet() || a.chosenByFile.Load() || p.RelationshipQuery != "" {
		return
	}
	kinds, err := t.Kinds(ctx, p.RelationshipTypes)
	if err != nil {
		a.log.Info("a look for a weight or a length that is not used failed", "error", err)
		return
	}
	switch property, isLength := advice.Unused(kinds, a.given()); {
	case property == "":
	case isLength:
		a.note("Note: the relationships have the property %q, and it is not used: each is one hop; --metric %s takes it for their length",
			property, term.QuoteShell(property))
	default:
		a.note("Note: the relationships have the property %q, and it is not used: every relationship weighs 1; "+
			"--relationship-weight-property %s uses it", property, term.QuoteShell(property))
	}
}

// largeHeap is the share of the live heap, in percent, that may be garbage where a graph is large: it is vectors, lists and texts, which
// take little time to scan.
const largeHeap = 25

// saveMemory makes the garbage collector run more often once a large graph or file is read, unless GOGC says how often.
func saveMemory(large bool) {
	if large && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(largeHeap)
	}
}

// noteCommunities says where a plan from a file was made for other communities than the model has: its accuracy, and noise that was
// allocated, are for its own.
func (a *app) noteCommunities(ctx context.Context, m *graphcloak.Model, made *plan.PlannedCommunities) error {
	ours, err := m.PlannedCommunities(ctx)
	if err == nil && made != nil && made.Digest != ours.Digest {
		a.note("Note: the plan was made for other communities than these: its noise and its own accuracy are for those; name its " +
			"--community-property, or have them detected as they were")
	}
	return err
}

// onModel opens the store to read from it, loads the model of a job, uses it, and closes the store.
func (a *app) onModel(ctx context.Context, job graphcloak.Job, use func(*graphcloak.Model) error) error {
	return with(ctx, a.openReading, func(s graphStore) error {
		switch err := a.checkSignal(ctx, s, job.Signal); {
		case err == nil:
		case job.Signal.SourceProperty == "" && errors.Is(err, connector.ErrNotFound): // sensors may measure, and people answer, later
			a.note("Note: %v, so far", err)
		default:
			return err
		}
		m, err := a.load(ctx, s, job)
		if err != nil {
			return err
		}
		return use(m)
	})
}

// checkSignal refuses a private property that the store does not have, before anything is
// read or computed: by its name alone.
func (a *app) checkSignal(ctx context.Context, s graphStore, signal graphcloak.Signal) error {
	property := signal.Property()
	if property == "" || a.signal != "" {
		return nil
	}
	known, err := s.Properties(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(known, property) {
		return a.checkReadings(ctx, s, signal.MeasurementProperty)
	}
	missing := connector.NotFound("property", property, known)
	if e, ok := errors.AsType[*connector.NotFoundError](missing); ok && e.Suggestion != "" {
		return missing
	}
	schema, err := s.Schema(ctx)
	if err != nil { // the hint is less
		return missing
	}
	given := a.given()
	given.Source, given.Measurement = "", ""
	numbers := advice.PrivateCandidates(schema, given, report.WrittenNames(a.config.Write.PropertyPrefix))
	return fail(exitNotFound, "%w", missing).hint("numbers are in %s", term.FewNames(numbers))
}

// checkReadings refuses a property of readings whose type is truth values, by its type alone: what values it has nobody
// is told.
func (a *app) checkReadings(ctx context.Context, s graphStore, property string) error {
	if property == "" {
		return nil
	}
	schema, err := s.Schema(ctx)
	if err != nil { // the recovery says whether readings fit
		return nil
	}
	is := func(p connector.Property) bool { return p.Name == property && p.Type == connector.BooleanType }
	if slices.ContainsFunc(schema.Labels, func(k connector.Kind) bool { return slices.ContainsFunc(k.Properties, is) }) {
		return fail(exitUsage, "%q holds truth values, and a reading of heat is a number", property).
			hint("give answers of yes or no as --answer-property %s", property)
	}
	return nil
}

// given is what settings say already.
func (a *app) given() advice.Choice {
	c := a.config
	choice := advice.Choice{
		NodeLabels: c.Projection.NodeLabels, RelationshipTypes: c.Projection.RelationshipTypes, NodeKey: c.Projection.NodeKey,
		Source: cmp.Or(c.Signal.SourceProperty, c.Signal.AnswerProperty), Measurement: c.Signal.MeasurementProperty,
		Community: c.Community.Property,
		Weight:    c.Projection.RelationshipWeightProperty, Sensor: c.Sensors.Property,
		Caption: c.Report.Caption,
	}
	if c.Privacy.Metric != "hops" {
		choice.Length = c.Privacy.Metric
	}
	return choice
}

// notices passes on what a store has and nobody asked for.
func (a *app) notices(s graphStore) {
	if u, ok := unwatched(s).(interface{ Unused() []string }); ok && !a.chosenByFile.Load() {
		for _, n := range u.Unused() {
			a.note("Note: %s", n)
		}
	}
}

// onStore gives a command the store, to read from, and more settings than those of the store.
func (a *app) onStore(cmd *cobra.Command, do func(ctx context.Context, s graphStore, words []string) error,
	more ...config.Group,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		return with(ctx, a.openReading, func(s graphStore) error { return do(ctx, s, args) })
	}
	return a.withSettings(cmd, nil, storeGroups, more...)
}

// with opens a store, uses it, and closes it.
func with(ctx context.Context, open func(context.Context) (graphStore, error), use func(graphStore) error) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	return use(s)
}
