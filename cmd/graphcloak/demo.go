// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/report"
)

func newDemoCommand(app *app) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole pipeline on a shipped graph: no server, no files needed",
		Long: "demo copies a shipped graph into a folder, hides the source that it has, and tells the likely community.\n" +
			"The folder is a full store: it takes the written properties, the run and the ledger. result.json and\n" +
			"result.csv hold the result. Each further run in the same folder spends budget again, and the ledger says so.",
		Example: "  graphcloak demo\n  graphcloak demo --from example:net3 --tau 4\n" +
			"  graphcloak demo --from generate:sbm,n=300,k=3,in=0.1,out=0.002,seed=7 --dir sbm-demo",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.demo(cmd.Context(), dir)
		},
	}
	cmd = app.withSettings(cmd, map[string]string{"from": "example:karate", "epsilon": "4", "delta": "0.1", "tau": "2", "format": "table"},
		config.GroupSource, config.GroupDiffusion, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity,
		config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&dir, "dir", "graphcloak-demo", "`FOLDER` for the graph and the result")
	return cmd
}

func (a *app) demo(ctx context.Context, dir string) error {
	from := a.config.From
	if from.Kind != config.FromExample && from.Kind != config.FromGenerate {
		return fail(exitUsage, "demo runs on a shipped or generated graph, not on %s", from).
			hint("for a graph of your own use `graphcloak run --from %s`", from)
	}
	source, err := builtinFolder(from)
	if err != nil {
		return err
	}
	if err := demoFolder(source, dir); err != nil {
		return err
	}
	s, err := a.openFolder(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	job, err := a.job()
	if err != nil {
		return err
	}
	job.Signal = graphcloak.Signal{SourceProperty: builtin.SourceProperty}
	job.Write = graphcloak.WriteOptions{Enabled: true, Force: a.config.Output.Force}
	job.Scope, job.RequireCap = source.Name, false // what ships in the program needs no limit
	if job.Recover.Communities.Property == "" {
		job.Recover.Communities.Property = source.Community
	}
	if job.RunID, err = graphcloak.NewRunID(); err != nil {
		return err
	}
	rep, err := a.demonstrate(ctx, s, job)
	if rep != nil {
		if err := a.leave(dir, rep); err != nil {
			return err
		}
	}
	return a.conclude(job, rep, err, section{
		text: fmt.Sprintf("Written to %s: nodes.csv has the new columns, result.json the report, result.csv the nodes.", dir),
	})
}

// demonstrate is the run of a demo. One that was interrupted is given up: the next
// starts afresh, and says so.
func (a *app) demonstrate(ctx context.Context, s graphStore, job graphcloak.Job) (*report.Report, error) {
	if _, err := checkState(); err != nil {
		return nil, err
	}
	if _, err := a.settle(ctx, s, earlier{scope: job.Scope, fresh: true}); err != nil {
		return nil, err
	}
	a.journal(ctx, s, &job, 1<<16, "", false)
	rep, err := graphcloak.Run(ctx, s, job, loadOptions(a))
	return rep, a.unspent(job.RunID, err)
}

// nameFile ties a demo folder to its graph.
const nameFile = "graph.txt"

// demoFolder makes a folder for the graph, or takes one that an earlier demo of
// the same graph made.
func demoFolder(source builtin.Folder, dir string) error {
	known, err := disk.Read(filepath.Join(dir, nameFile), 1<<10)
	if err == nil && string(known) == source.Name+"\n" {
		return nil
	}
	if err == nil {
		return fail(exitConflict, "%s holds the demo of another graph", dir).hint("name another folder with --dir")
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fail(exitConflict, "%s exists and is no demo's folder", dir).hint("name another folder with --dir")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := copyFolder(source, dir); err != nil {
		return err
	}
	return disk.Write(filepath.Join(dir, nameFile), disk.Options{Mode: 0o666, Replace: true}, func(w io.Writer) error {
		_, err := io.WriteString(w, source.Name+"\n")
		return err
	})
}

// leave writes the result beside the graph, over that of an earlier demo.
func (a *app) leave(dir string, rep *report.Report) error {
	files := map[string]func(io.Writer) error{
		"result.json": func(w io.Writer) error { return a.printJSON(w, rep, true) },
		"result.csv": func(w io.Writer) error {
			return printCSV(w, section{columns: report.StreamColumns(), rows: rowsOf(slices.Collect(rep.Stream()), report.Node.Row)})
		},
	}
	for name, write := range files {
		path := filepath.Join(dir, name)
		if err := removeIfThere(path); err != nil {
			return err
		}
		if err := a.create(path, write); err != nil {
			return err
		}
	}
	return nil
}
