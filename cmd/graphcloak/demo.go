// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
	"github.com/graphcloak/graphcloak/run"
)

func newDemoCommand(app *app) *cobra.Command {
	dir, whisper := "", false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole pipeline on a shipped graph: no server, no files needed",
		Long: "demo copies a shipped graph into a folder, hides the source that it has, and names the likely community, with what\n" +
			"really happened beside it. The folder is a full store, with result.json, result.csv and report.html, a page with a\n" +
			"map. With --whisper people are asked whether they have heard a rumour, and the team where it began is named.",
		Example: "  graphcloak demo --whisper\n" +
			"  graphcloak demo --from example:karate --epsilon 8",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			app.pays = true
			if dir == "" {
				dir = demoDir
				if whisper {
					dir = whisperDir
				}
			}
			return app.demo(cmd.Context(), dir, whisper)
		},
	}
	cmd = app.withSettings(cmd, demoDefaults(), nil,
		config.GroupSource, config.GroupDiffusion, config.GroupPrivacy, config.GroupRecovery, config.GroupCommunity,
		config.GroupReport, config.GroupOutput, config.GroupExecution)
	cmd.Flags().StringVar(&dir, "dir", "", "`FOLDER` for the graph and the result (default "+demoDir+", "+whisperDir+" with --whisper)")
	const usage = "say where a whisper began in a made-up company, at --epsilon 2 for each person"
	cmd.Flags().BoolFunc("whisper", usage, func(value string) (err error) {
		if whisper, err = strconv.ParseBool(value); whisper {
			app.defaults[cmd] = whisperDefaults()
		}
		return err
	})
	return cmd
}

// demoDir is the folder of a demo unless another is named, whisperDir that of a demo of a whisper.
const (
	demoDir    = "graphcloak-demo"
	whisperDir = "graphcloak-whisper"
)

// demoDefaults tell three districts of the water network apart: the right one is the likeliest in more than
// 95 % of runs: TestDemoIsRight. The shipped graph has a source, so that one is supposed.
func demoDefaults() map[string]string {
	return map[string]string{
		"from": "example:net3", "epsilon": "4", "delta": "0.01", "tau": "4", "gamma": "0.1", "falseAlarm": "1",
		"format": "table",
	}
}

// whisperDefaults tell the six teams of the made-up company apart: TestWhisperDemoIsRight.
func whisperDefaults() map[string]string {
	return map[string]string{"from": "example:company", "epsilon": "2", "format": "table"}
}

func (a *app) demo(ctx context.Context, dir string, whisper bool) error {
	from := a.config.From
	if from.Kind != config.FromExample && from.Kind != config.FromGenerate {
		return fail(exitUsage, "demo runs on a shipped or generated graph, not on %s", from).
			hint("for a graph of your own use `graphcloak run --from %s`", from)
	}
	source, err := builtinFolder(from)
	if err != nil {
		return err
	}
	if whisper {
		if source.Heard == "" {
			return fail(exitUsage, "nobody has heard a whisper in %s", from).hint("leave --from out: example:company has one")
		}
		a.config.Signal.AnswerProperty = source.Heard
		a.config.Report.Caption = cmp.Or(a.config.Report.Caption, source.Caption)
	}
	if err := demoFolder(source, dir); err != nil {
		return err
	}
	s, err := a.openFolder(ctx, dir, "")
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	job, err := a.job()
	if err != nil {
		return err
	}
	if !whisper {
		job.Signal = graphcloak.Signal{SourceProperty: builtin.SourceProperty}
	}
	job.Selection.Isolated = graph.DropIsolated // which a generated graph may have
	job.Write = graphcloak.WriteOptions{Enabled: true, Force: a.config.Output.Force}
	job.RequireCap = false // what ships in the program needs no limit
	if job.Communities.Property == "" {
		job.Communities.Property = source.Community
	}
	if job.RunID, err = run.NewRunID(); err != nil {
		return err
	}
	rep, err := a.demonstrate(ctx, s, &job, dir)
	if err != nil {
		return err
	}
	if err := a.leave(dir, rep); err != nil {
		return err
	}
	return a.conclude(ctx, s, job, rep, nil, term.Section{
		Text: fmt.Sprintf("Written to %s: nodes.csv has the new columns, result.json the report, result.csv the nodes.", dir),
	})
}

// demonstrate is the run of a demo. One that was interrupted is given up: the next
// starts afresh, and says so.
func (a *app) demonstrate(ctx context.Context, s graphStore, job *graphcloak.Job, dir string) (*report.Report, error) {
	if _, err := checkState(); err != nil {
		return nil, err
	}
	if _, err := a.resolveInterrupted(ctx, s, interruption{scope: run.Scope(job.Signal), fresh: true}); err != nil {
		return nil, err
	}
	m, err := a.model(ctx, s, job.Settings)
	if err != nil {
		return nil, err
	}
	job.Planned = func(*graphcloak.Plan) error { return a.explainDemo(ctx, s, m, *job, dir) }
	job.PlannedWhisper = func(*graphcloak.Whisper) error { return a.explainDemo(ctx, s, m, *job, dir) }
	if err := a.journal(ctx, s.Ledger(), job, 1<<16, ""); err != nil {
		return nil, err
	}
	start := time.Now()
	rep, err := m.Run(ctx, *job)
	return rep, a.unspent(job.RunID, a.chronicle(ctx, s, *job, "write", time.Since(start), rep, err))
}

// explainDemo prepares the page of a demo, which knows where the source is.
func (a *app) explainDemo(ctx context.Context, s graphStore, m *graphcloak.Model, job graphcloak.Job, dir string,
) error {
	path := pagePath(a.config.Report.File, job.RunID)
	if path == "" {
		path = filepath.Join(dir, "report.html")
		if err := removeIfExists(path); err != nil {
			return err
		}
	}
	if err := a.checkFile(path); err != nil {
		return err
	}
	view, err := a.scenery(ctx, s, m.Graph, job.Signal)
	if err != nil {
		return err
	}
	a.captions = view.Captions
	source, err := s.Signal(ctx, m.Graph, builtin.SourceProperty)
	if err != nil {
		return err
	}
	if job.Signal.AnswerProperty != "" {
		view.Command = " --whisper"
	}
	if dir != demoDir && dir != whisperDir {
		view.Command += " --dir=" + term.QuoteShell(dir)
	}
	a.page = func(rep *report.Report) (term.Section, error) {
		view.Truth = page.NewTruth(rep, source)
		written, err := a.writePage(ctx, s, path, view, rep)
		written.Text, written.Last = view.Truth.Text+"\n"+written.Text, true
		return written, err
	}
	return nil
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
		return fail(exitConflict, "%s exists and is not the folder of a demo", dir).hint("name another folder with --dir")
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fail(exitConflict, "%s is a file, and a demo needs a folder", dir).hint("name another folder with --dir")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := source.CopyTo(dir); err != nil {
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
		"result.json": func(w io.Writer) error { return term.Form{Name: "json", Warnings: a.warnings}.Write(w, rep) },
		"result.csv": func(w io.Writer) error {
			return term.Form{Name: "csv"}.Write(w, nil, term.Table(rep.StreamColumns(), slices.Collect(rep.Stream()), rep.StreamRow))
		},
	}
	for name, write := range files {
		path := filepath.Join(dir, name)
		if err := removeIfExists(path); err != nil {
			return err
		}
		if err := a.create(path, write); err != nil {
			return err
		}
	}
	return nil
}
