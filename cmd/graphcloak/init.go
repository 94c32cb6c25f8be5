// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/advice"
)

// settingsFile is where init writes unless told otherwise.
const settingsFile = "graphcloak.yaml"

func newInitCommand(app *app) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Propose settings from the database's schema, warn, and write them",
		Long: "init looks at labels, relationship types, properties and their types, and proposes which part is the graph,\n" +
			"what identifies a node, which property is private, and what weights, lengths, communities and names are. It\n" +
			"asks on a terminal, with the proposal as the answer to Enter; elsewhere --yes takes it. What a flag gives is\n" +
			"not asked. It then reads the graph, warns of what will disappoint, and writes FILE, " + settingsFile + " unless given,\n" +
			"for --config. Values of the private property are neither read nor shown, and nothing is spent.",
		Example: "  graphcloak init --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak init --from folder:mygraph --source-property leak --yes\n" +
			"  graphcloak run --config " + settingsFile,
		GroupID: groupManage,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := settingsFile
			if len(args) == 1 {
				path = args[0]
			}
			return app.initialise(cmd, path, yes)
		},
	}
	cmd = app.withSettings(cmd, nil, config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupDiffusion,
		config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity, config.GroupReport, config.GroupOutput,
		config.GroupExecution)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "take the proposal and ask nothing")
	return cmd
}

// initialise proposes, asks, warns and writes, in this order: what is cut short leaves no
// file behind.
func (a *app) initialise(cmd *cobra.Command, path string, yes bool) error {
	ctx := cmd.Context()
	if !yes && !a.mayAsk() {
		return fail(exitUsage, "init asks, and there is no terminal to answer on").hint(
			"--yes takes the proposal; flags such as --node-labels and --source-property replace parts of it")
	}
	if err := a.checkFile(path); err != nil {
		return err
	}
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	schema, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	choice, err := a.choose(ctx, s, schema, yes)
	if err != nil {
		return err
	}
	if err := a.adopt(cmd, flagsOf(choice)); err != nil {
		return err
	}
	m, refused, err := a.tryOut(ctx, cmd, s, schema)
	if err != nil {
		return err
	}
	lines := a.settingsLines()
	if err := a.create(path, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "# GraphCloak's settings, for --config; `graphcloak config schema` describes each.\n# A path in it "+
			"is seen from the folder that a command runs in.\n"); err != nil {
			return err
		}
		return config.WriteFile(w, lines)
	}); err != nil {
		return err
	}
	return a.showInitialised(path, lines, m, refused)
}

// choose proposes and asks. Nothing that the proposal is made from is a value.
func (a *app) choose(ctx context.Context, s graphStore, schema connector.Schema, yes bool) (advice.Choice, error) {
	if len(schema.Labels) == 0 || len(schema.Types) == 0 {
		return advice.Choice{}, fail(exitValidation, "%w: there are no nodes, or no relationships", plan.ErrEmpty).
			hint("load the graph first; `graphcloak graph import DIR` takes a folder of CSV")
	}
	if schema.Cut {
		a.note("Note: there are more labels, types or properties than init looks at; flags such as --node-labels name any")
	}
	given := a.given()
	if err := checkPrivate(ctx, s, schema, given.Private()); err != nil {
		return advice.Choice{}, err
	}
	schema = nameable(schema)
	written, released, err := a.notPublic(ctx, s, given)
	if err != nil {
		return advice.Choice{}, err
	}
	choice := advice.Propose(schema, given, written)
	if given.Private() == "" && len(released) > 0 {
		choice = preferReleased(schema, choice, given, written, released)
	}
	for _, name := range advice.Partial(schema, choice, written) {
		a.note("Note: some of the relationships lack %q, so it is proposed as no weight or length; --relationship-types selects those "+
			"that have it", name)
	}
	if !yes {
		return a.interview(ctx, s, schema, given, choice, written)
	}
	if choice.Private() == "" {
		candidates := advice.CandidatesOf(schema, choice, written).Private
		return choice, fail(exitUsage, "init does not know which property is private").
			hint("name it with --source-property, or with --measurement-property where sensors measured it; numbers are in %s",
				fewNames(candidates))
	}
	return choice, nil
}

// checkPrivate refuses a private property that the store does not have, or that holds no
// numbers, by what the schema says of it.
func checkPrivate(ctx context.Context, s graphStore, schema connector.Schema, property string) error {
	if property == "" {
		return nil
	}
	_, _, known, err := s.Names(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(known, property) {
		return connector.NotFound("property", property, known)
	}
	var kind connector.PropertyType
	for _, k := range schema.Labels {
		for _, p := range k.Properties {
			if p.Name == property {
				kind = kind.Merge(p.Type)
			}
		}
	}
	if kind != "" && !kind.Numeric() {
		return fail(exitValidation, "the property %q holds no numbers, and what is released are numbers", property).
			hint("name another property with --source-property or --measurement-property")
	}
	return nil
}

// notPublic returns the properties that runs write, which are no part of the user's graph,
// and those that runs of this store released: they stay private.
func (a *app) notPublic(ctx context.Context, s graphStore, given advice.Choice) (written, released []string, err error) {
	for _, c := range report.Outline("", a.config.Write.PropertyPrefix, nil).Columns() {
		written = append(written, c.Name)
	}
	for _, c := range report.Outline("", "gc", nil).Columns() {
		written = append(written, c.Name)
	}
	released, err = privateNames(ctx, s, graphcloak.Signal{SourceProperty: given.Source, MeasurementProperty: given.Measurement})
	return written, released, err
}

// preferReleased makes a proposal in which the private property is one that was released
// before, where the chosen nodes have any, and in which no such property is anything else.
func preferReleased(schema connector.Schema, choice, given advice.Choice, written, released []string) advice.Choice {
	if slices.Contains(released, choice.Private()) {
		given.Source, given.Measurement = choice.Source, choice.Measurement
	} else {
		for _, name := range advice.CandidatesOf(schema, choice, written).Private {
			if slices.Contains(released, name) && given.Source == "" {
				given.Source = name
			}
		}
	}
	return advice.Propose(schema, given, slices.Concat(written, released))
}

// given is what settings say already.
func (a *app) given() advice.Choice {
	c := a.config
	choice := advice.Choice{
		NodeLabels: c.Projection.NodeLabels, RelationshipTypes: c.Projection.RelationshipTypes, NodeKey: c.Projection.NodeKey,
		Source: c.Signal.SourceProperty, Measurement: c.Signal.MeasurementProperty, Community: c.Community.Property,
		Weight: c.Projection.RelationshipWeightProperty, SensorLabel: c.Sensors.Label, Sensor: c.Sensors.Property,
		Caption: c.Report.Caption,
	}
	if c.Privacy.Metric != "hops" {
		choice.Length = c.Privacy.Metric
	}
	return choice
}

// flagsOf are the flags that make a choice, with their texts.
func flagsOf(c advice.Choice) map[string][]string {
	flags := map[string][]string{"node-labels": quoted(c.NodeLabels), "relationship-types": quoted(c.RelationshipTypes)}
	for name, text := range map[string]string{
		"source-property": c.Source, "measurement-property": c.Measurement, "node-key": c.NodeKey, "community-property": c.Community,
		"relationship-weight-property": c.Weight, "metric": c.Length, "sensor-label": c.SensorLabel, "sensor-property": c.Sensor,
		"node-caption": c.Caption,
	} {
		if text != "" {
			flags[name] = []string{text}
		}
	}
	return flags
}

// quoted are names as a flag takes them, which reads commas as separators.
func quoted(names []string) (texts []string) {
	for _, name := range names {
		var b strings.Builder
		w := csv.NewWriter(&b)
		_ = w.Write([]string{name}) // a builder takes everything
		w.Flush()
		texts = append(texts, strings.TrimSuffix(b.String(), "\n"))
	}
	return texts
}

// adopt resolves the settings again, with flags that were not given.
func (a *app) adopt(cmd *cobra.Command, flags map[string][]string) error {
	for name, texts := range flags {
		f := cmd.Flags().Lookup(name)
		if f.Changed || a.decided(f) {
			continue
		}
		for _, text := range texts {
			if err := cmd.Flags().Set(name, text); err != nil {
				return err
			}
		}
	}
	layers := config.Layers{Flags: cmd.Flags(), Defaults: a.defaults[cmd]}
	if _, err := a.addFiles(&layers); err != nil {
		return err
	}
	c, err := config.Load(layers)
	if err == nil {
		a.settling.Lock()
		a.config = c
		a.settling.Unlock()
	}
	return err
}

// decided reports whether the setting of a flag has a value from elsewhere.
func (a *app) decided(f *pflag.Flag) bool {
	for _, s := range config.Settings() {
		if s.Flag == f.Name {
			return a.config.Origin(s.Key).Layer != config.LayerDefault
		}
	}
	return false
}

// tryOut reads the graph of the choice and warns of what will disappoint. Choices that
// only the graph can tell are made here: α for its lengths, and to add up the weights of
// parallel relationships, once the user was told. It reports whether a run would be refused because its answer cannot be told from chance.
func (a *app) tryOut(ctx context.Context, cmd *cobra.Command, s graphStore,
	schema connector.Schema,
) (m *graphcloak.Model, refused bool, err error) {
	found, err := a.misplaced(ctx, s, schema)
	if err != nil {
		return nil, false, err
	}
	a.warnOf(advice.Warnings(advice.Facts{Misplaced: found}))
	job, err := a.job()
	if err != nil {
		return nil, false, err
	}
	if m, err = a.load(ctx, s, job); err != nil {
		return nil, false, err
	}
	if a.config.Privacy.Metric != "hops" {
		if err := a.adopt(cmd, map[string][]string{"alpha": {strconv.FormatFloat(advice.Alpha(m.Graph), 'g', -1, 64)}}); err != nil {
			return nil, false, err
		}
		if job, err = a.job(); err != nil {
			return nil, false, err
		}
	}
	accuracy, err := a.adviseOf(ctx, m, job)
	if err != nil {
		return nil, false, err
	}
	if m.Graph.Dropped().Parallel > 0 {
		err = a.adopt(cmd, map[string][]string{"aggregation": {a.config.Projection.Aggregation}})
	}
	return m, accuracy.AtChance() && !a.config.Privacy.SpendAtChance, err
}

// settingsLines are what the file holds: what was chosen, and how the server is reached
// where a file may say so: address and password must have one author.
func (a *app) settingsLines() (lines []config.Line) {
	whole := a.config.Connection.PasswordFile != ""
	left := []config.Group{config.GroupOutput, config.GroupExecution, config.GroupTerminal}
	groups := make(map[string]config.Group)
	for _, s := range config.Settings() {
		groups[s.Key] = s.Group
	}
	for _, e := range a.config.Entries() {
		layer := e.Layer
		switch {
		case e.Key == "from":
			from, err := a.source()
			if err == nil {
				lines = append(lines, config.Line{Key: e.Key, Value: from.String()})
			}
			continue
		case slices.Contains(left, groups[e.Key]), layer != config.LayerFlag && layer != config.LayerFile:
			continue
		case groups[e.Key] == config.GroupConnection && !whole && e.Key != "neo4jDatabase", e.Key == "neo4jPassword",
			e.Key == "passwordStdin":
			continue
		}
		lines = append(lines, config.Line{Key: e.Key, Value: e.Value})
	}
	return lines
}

// showInitialised tells what was written, and the two commands that come next: where a run is refused, first what would help.
func (a *app) showInitialised(path string, lines []config.Line, m *graphcloak.Model, refused bool) error {
	settings := make(map[string]any, len(lines))
	for _, l := range lines {
		settings[l.Key] = l.Value
	}
	end := " --config " + quoteShell(path) + a.repeated(lines)
	next := []string{"graphcloak plan" + end, "graphcloak run" + end}
	title := "Next: what it would tell and cost, and then the run, which spends"
	if refused {
		title = "Next: what a higher ε would tell, which spends nothing. At these settings a run is refused, unless it is to spend " +
			"all the same"
		help := fmt.Sprintf(" --epsilon %v", 4*a.config.Privacy.Epsilon)
		if m.Graph.Order() <= analyst.DenseLimit {
			help = " --target-accuracy 0.9"
		}
		next = []string{next[0] + help, next[1] + " --spend-at-chance"}
	}
	graph := fmt.Sprintf("%s and %s", report.Count(m.Graph.Order(), "node"), report.Count(m.Graph.Size(), "relationship"))
	return a.render(map[string]any{
		"file": path, "settings": settings, "nodeCount": m.Graph.Order(),
		"relationshipCount": m.Graph.Size(), "next": next,
	},
		section{
			title: "Settings", columns: []string{"key", "value"},
			rows: rowsOf(lines, func(l config.Line) []any { return []any{l.Key, settingText(l.Value)} }),
		},
		section{text: fmt.Sprintf("Wrote %s, for a graph of %s. Nothing was spent.", path, graph)},
		section{title: title, text: strings.Join(next, "\n")})
}

// repeated are the flags of the connection that the file does not hold.
func (a *app) repeated(lines []config.Line) (flags string) {
	if from, err := a.source(); err != nil || from.Kind != config.FromNeo4j {
		return ""
	}
	for _, s := range config.Settings() {
		held := slices.ContainsFunc(lines, func(l config.Line) bool { return l.Key == s.Key })
		if s.Group != config.GroupConnection || held || s.Secret() || a.config.Origin(s.Key).Layer != config.LayerFlag {
			continue
		}
		for _, e := range a.config.Entries() {
			if e.Key == s.Key && s.Type() == "boolean" {
				flags += " --" + s.Flag
			} else if e.Key == s.Key {
				flags += " --" + s.Flag + " " + quoteShell(fmt.Sprint(e.Value))
			}
		}
	}
	return flags
}
