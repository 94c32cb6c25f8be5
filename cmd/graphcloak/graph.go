// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/report"
)

func newGraphCommand(app *app) *cobra.Command {
	return newGroup("graph", "Import, generate, snapshot and list graphs",
		newGraphImportCommand(app), newGraphGenerateCommand(app), newGraphSnapshotCommand(app), newGraphListCommand(app))
}

func newGraphImportCommand(app *app) *cobra.Command {
	var options neo4j.ImportOptions
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "Load a folder of CSV into Neo4j",
		Long: "import creates a node for each row of DIR/nodes.csv (id, any properties) and a relationship for each row of\n" +
			"DIR/relationships.csv or .parquet (source, target, any properties), with a uniqueness constraint on the key.\n" +
			"Commas, tabs, semicolons or bars part the columns of CSV.",
		Example: "  graphcloak graph import mygraph --uri neo4j://localhost:7687 -u neo4j --label Person --type KNOWS",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if form := app.outputFormat(); form == "csv" || form == "parquet" {
				return fail(exitUsage, "an import has no rows for %s", form).hint("give --format json")
			}
			if info, err := os.Stat(args[0]); err != nil {
				return fmt.Errorf("import: %w", err)
			} else if !info.IsDir() {
				return fail(exitUsage, "%s is not a folder", args[0]).hint("give the folder that holds nodes.csv and relationships")
			}
			o, err := app.connectorOptions(ctx)
			if err != nil {
				return err
			}
			s, err := neo4j.New(ctx, o)
			if err != nil {
				return err
			}
			defer s.Close(context.WithoutCancel(ctx))
			csv := &folder.CSV{FS: folder.Dir(args[0]), Progress: app.progress}
			nodes, relationships, err := csv.Columns()
			if err != nil {
				return err
			}
			done, err := s.Import(ctx, csv, options)
			if err != nil {
				return err
			}
			return app.render(map[string]any{
				"store": s.Name(), "nodesDeleted": done.Deleted, "nodesCreated": done.Nodes, "relationshipsCreated": done.Relationships,
				"nodeColumns": nodes, "relationshipColumns": relationships,
			}, term.Section{Text: fmt.Sprintf("Read the columns %s of nodes and %s of relationships.\nDeleted %s, created %s "+
				"and %s in %s.",
				strings.Join(nodes, ", "), strings.Join(relationships, ", "),
				report.Count(done.Deleted, "node"), report.Count(done.Nodes, "node"),
				report.Count(done.Relationships, "relationship"), s.Name())})
		},
	}
	cmd = app.withSettings(cmd, nil, nil, config.GroupConnection, config.GroupOutput, config.GroupExecution)
	f := cmd.Flags()
	f.StringVar(&options.NodeLabel, "label", "Node", "`LABEL` of the created nodes")
	f.StringVar(&options.NodeKey, "key", "id", "`PROPERTY` that takes the column id")
	f.StringVar(&options.RelationshipType, "type", "CONNECTED_TO", "`TYPE` of relationships that no column type names")
	f.BoolVar(&options.Replace, "replace", false, "delete the nodes that have the label first")
	return cmd
}

func newGraphGenerateCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate SPEC DIR",
		Short: "Write a generated graph as a folder of CSV",
		Long: "generate writes nodes.csv and relationships.csv, byte for byte the same for the same SPEC, or copies an example such\n" +
			"as example:karate. `graphcloak graph list` shows the families.",
		Example: "  graphcloak graph generate sbm,n=500,k=2,in=0.05,out=0.001,seed=1 sbm500",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			source, err := exampleOrGenerated(args[0])
			if err != nil {
				return err
			}
			dir := args[1]
			if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
				return fail(exitConflict, "%s exists and is not empty", dir).hint("name another folder")
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := source.CopyTo(dir); err != nil {
				return err
			}
			return app.render(map[string]any{"name": source.Name, "folder": dir}, term.Section{
				Text: fmt.Sprintf("Wrote %s to %s; use it with --from folder:%[2]s.", source.Name, dir),
			})
		},
	}
	return app.withSettings(cmd, nil, nil, config.GroupOutput)
}

func newGraphSnapshotCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot FILE",
		Short: "Keep the graph in a file that is mapped instead of read",
		Long: "snapshot reads the public graph once and keeps nodes' names, relationships, weights and lengths in FILE.\n" +
			"--from snapshot:FILE then maps it: memory holds what is looked at, and relationships are not read again. Signals,\n" +
			"communities, the budget and what a run writes stay in the store: the server of --uri, or the folder that FILE lies\n" +
			"in. Nodes are compared with the store's on every use; relationships that changed since are not noticed.\n" +
			"While it is made, leave room on disk for about twice its size.",
		Example: "  graphcloak graph snapshot --uri neo4j://localhost:7687 -u neo4j --node-key name city.snapshot\n" +
			"  graphcloak graph snapshot --from folder:city city/city.snapshot",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return app.snapshot(cmd.Context(), args[0]) },
	}
	return app.withSettings(cmd, nil, storeGroups, config.GroupProjection, config.GroupQueries)
}

func (a *app) snapshot(ctx context.Context, path string) error {
	if err := a.needKey("a snapshot"); err != nil {
		return err
	}
	settings, err := modelSettings(a.config)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fail(exitConflict, "%s exists", path).hint("name another file, or remove it")
	}
	a.memory = disk.Scratch{Dir: filepath.Dir(path)} // as large as the snapshot, and gone with the process
	s, err := a.openReading(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	g, err := s.Graph(ctx, settings.Selection)
	if err != nil {
		return err
	}
	a.notices(s)
	if err := snapshot.Write(path, g, settings.Selection); err != nil {
		return err
	}
	digest := g.Digest()
	return a.render(map[string]any{
		"file": path, "store": s.Name(), "nodeCount": g.Order(), "relationshipCount": g.Size(), "digest": fmt.Sprintf("%x", digest),
	}, term.Section{Text: fmt.Sprintf("Wrote %s and %s of %s to %s; use it with --from snapshot:%[4]s.", report.Count(g.Order(), "node"),
		report.Count(g.Size(), "relationship"), s.Name(), path)})
}

// exampleOrGenerated returns the graph that the name of an example, or a generator's
// specification, stands for.
func exampleOrGenerated(name string) (builtin.Folder, error) {
	if example, err := builtin.Example(name); err == nil {
		return example, nil
	}
	return builtinFolder(config.From{Kind: config.FromGenerate, Arg: name})
}

func newGraphListCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Shipped graphs and families of generated ones",
		Example: "  graphcloak graph list --format json",
		RunE: func(*cobra.Command, []string) error {
			type entry struct {
				From    string `json:"from"`
				Summary string `json:"summary"`
			}
			var list []entry
			for _, name := range builtin.Names() {
				f, err := builtin.Example(name)
				if err != nil {
					return err
				}
				list = append(list, entry{"example:" + name, f.Summary})
			}
			for _, g := range builtin.Generators() {
				list = append(list, entry{"generate:" + g, "generated; what stands empty must be given"})
			}
			return app.render(map[string]any{"graphs": list}, term.Table([]string{"from", "summary"}, list, func(e entry) []any {
				return []any{e.From, e.Summary}
			}))
		},
	}
	return app.withSettings(cmd, nil, nil, config.GroupOutput)
}
