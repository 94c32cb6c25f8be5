// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/study/advice"
)

func newInitCommand(app *app) *cobra.Command {
	return app.withSettings(&cobra.Command{
		Use:   "init [FILE]",
		Short: "Propose settings from the database's schema, warn, and write them",
		Long: "init proposes from labels, relationship types and names of properties what a run needs, prints it, and writes it\n" +
			"to FILE, " + settingsFile + " unless given, for --config. A flag replaces a part of the proposal. It then reads the\n" +
			"graph and warns of what will disappoint. It never reads a value of the private property, and spends nothing.",
		Example: "  graphcloak init --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak run --config " + settingsFile,
		GroupID: groupManage,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.initialise(cmd, append(args, settingsFile)[0])
		},
	}, nil, storeGroups, config.GroupProjection, config.GroupDiffusion, config.GroupSensors, config.GroupSignal, config.GroupPrivacy,
		config.GroupRecovery, config.GroupCommunity, config.GroupReport)
}

// initialise proposes, warns and writes, in this order: what is cut short leaves no file behind.
func (a *app) initialise(cmd *cobra.Command, path string) error {
	ctx := cmd.Context()
	if err := a.checkFile(path); err != nil {
		return err
	}
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	choice, err := a.choose(ctx, s)
	if err != nil {
		return err
	}
	if a.config.Signal.AnswerProperty != "" { // it stood there as what is private
		choice.Source = ""
	}
	if err := a.adopt(cmd, flagsOf(choice)); err != nil {
		return err
	}
	m, refused, err := a.tryOut(cmd, s)
	if err != nil {
		return err
	}
	lines := a.settingsLines()
	if err := a.create(path, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "# GraphCloak's settings, for --config; `graphcloak config view` lists all.\n# A path in it "+
			"is seen from the folder that a command runs in.\n"); err != nil {
			return err
		}
		return config.WriteFile(w, lines)
	}); err != nil {
		return err
	}
	return a.showInitialised(path, lines, m, refused)
}

// choose proposes what no setting gives. Nothing that the proposal is made from is a value.
func (a *app) choose(ctx context.Context, s graphStore) (advice.Choice, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return advice.Choice{}, err
	}
	if len(schema.Labels) == 0 || len(schema.Types) == 0 {
		return advice.Choice{}, fail(exitValidation, "%w: there are no nodes, or no relationships", plan.ErrEmpty).
			hint("load the graph first; `graphcloak graph import DIR` takes a folder of CSV")
	}
	if schema.Cut {
		a.note("Note: there are more labels, types or properties than init looks at; flags such as --node-labels name any")
	}
	given := a.given()
	if err := a.checkSignal(ctx, s, signalOf(a.config)); err != nil {
		return advice.Choice{}, err
	}
	if err := checkNumbers(schema, cmp.Or(a.config.Signal.SourceProperty, a.config.Signal.MeasurementProperty)); err != nil {
		return advice.Choice{}, err
	}
	schema = advice.Nameable(schema)
	written := slices.Concat(report.WrittenNames(a.config.Write.PropertyPrefix), report.WrittenNames(report.DefaultPrefix))
	released, err := privateNames(ctx, s, graphcloak.Signal{SourceProperty: given.Source, MeasurementProperty: given.Measurement})
	if err != nil {
		return advice.Choice{}, err
	}
	choice := advice.Propose(schema, given, written)
	candidates := advice.PrivateCandidates(schema, choice, written)
	if given.Private() == "" && len(released) > 0 { // what was released stays private, and is nothing else
		if slices.Contains(released, choice.Private()) {
			given.Source, given.Measurement = choice.Source, choice.Measurement
		} else if k := slices.IndexFunc(candidates, func(name string) bool { return slices.Contains(released, name) }); k >= 0 {
			given.Source = candidates[k]
		}
		choice = advice.Propose(schema, given, slices.Concat(written, released))
	}
	for _, name := range advice.Partial(schema, choice, written) {
		a.note("Note: some of the relationships lack %q, so it is proposed as no weight or length; --relationship-types selects those "+
			"that have it", name)
	}
	if choice.Private() == "" {
		return choice, fail(exitUsage, "init does not know which property is private").
			hint("name it with --source-property, or with --measurement-property where sensors measured it; numbers are in %s",
				term.FewNames(candidates))
	}
	return choice, nil
}

// checkNumbers refuses a private property that holds no numbers, by what the schema says of it.
func checkNumbers(schema connector.Schema, property string) error {
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

// flagsOf are the flags that make a choice, with their texts.
func flagsOf(c advice.Choice) map[string][]string {
	flags := map[string][]string{"node-labels": term.Quoted(c.NodeLabels), "relationship-types": term.Quoted(c.RelationshipTypes)}
	for name, text := range map[string]string{
		"source-property": c.Source, "measurement-property": c.Measurement, "node-key": c.NodeKey, "community-property": c.Community,
		"relationship-weight-property": c.Weight, "metric": c.Length, "sensor-property": c.Sensor,
		"node-caption": c.Caption,
	} {
		if text != "" {
			flags[name] = []string{text}
		}
	}
	return flags
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
	_, err := a.resolve(cmd)
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

// tryOut reads the graph of the choice and warns of what will disappoint. It chooses what only the graph shows: α for its
// lengths, and to add up the weights of parallel relationships.
func (a *app) tryOut(cmd *cobra.Command, s graphStore) (m *graphcloak.Model, refused bool, err error) {
	ctx := cmd.Context()
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
	if m.Graph.Dropped().Parallel > 0 { // the user was warned of them
		err = a.adopt(cmd, map[string][]string{"aggregation": {a.config.Projection.Aggregation}})
	}
	return m, accuracy.AtChance() && !a.config.Privacy.SpendAtChance, err
}

// settingsLines are what the file holds: what was chosen, and how the server is reached
// where a file may say so: address and password must have one author.
func (a *app) settingsLines() (lines []config.Line) {
	whole := a.config.Connection.PasswordFile != ""
	left := []config.Group{config.GroupOutput, config.GroupExecution, config.GroupTerminal}
	for _, e := range a.config.Entries() {
		layer := e.Layer
		switch {
		case e.Key == "from":
			from, err := a.source()
			if err == nil {
				lines = append(lines, config.Line{Key: e.Key, Value: from.String()})
			}
			continue
		case slices.Contains(left, e.Group), layer != config.LayerFlag && layer != config.LayerFile:
			continue
		case e.Group == config.GroupConnection && !whole && e.Key != "neo4jDatabase", e.Key == "neo4jPassword",
			e.Key == "passwordFile" && e.Value == "-":
			continue
		}
		lines = append(lines, config.Line{Key: e.Key, Value: e.Value})
	}
	return lines
}

// showInitialised prints what was written, and the two commands that come next: where a run is refused, first what would help.
func (a *app) showInitialised(path string, lines []config.Line, m *graphcloak.Model, refused bool) error {
	settings := make(map[string]any, len(lines))
	for _, l := range lines {
		settings[l.Key] = l.Value
	}
	end := " --config " + term.QuoteShell(path)
	next := []string{"graphcloak plan" + end, "graphcloak run" + end}
	title := "Next: what it would find and cost, and then the run, which spends"
	if refused {
		title = "Next: what a higher ε would find, which spends nothing; at these settings a run is refused, unless it is to spend " +
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
		term.Section{
			Title: "Settings", Columns: []string{"key", "value"},
			Rows: term.Rows(lines, func(l config.Line) []any { return []any{l.Key, settingText(l.Value)} }),
		},
		term.Section{Text: fmt.Sprintf("Wrote %s, for a graph of %s. Nothing was spent.", path, graph)},
		term.Section{Title: title, Text: strings.Join(next, "\n")})
}
