// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/plot"
)

// Options say how much to compute.
type Options struct {
	Trials int    // of each point of a simulation; 0: each exhibit's own number
	Seed   uint64 // of graphs, sources and noise
	Quick  bool   // a tenth of the trials, and fewer points
	// Progress receives the trials that are done, from one goroutine at a time; nil:
	// silent.
	Progress func(stage string, done, total int64)
}

// ErrOptions says that an option is out of range.
var ErrOptions = errors.New("paper: bad options")

// maxTrials bounds the trials of a point: their results are kept.
const maxTrials = 1_000_000

// Exhibit is a figure, a table or a set of statements of the paper.
type Exhibit struct {
	Name   string // such as figure-1
	Title  string
	Source string // where it stands in the paper
	run    func(ctx context.Context, r *runner) error
}

// Result is what an exhibit found.
type Result struct {
	Exhibit
	Text   []string // paragraphs
	Claims []Claim
	Tables []*Table
	Plots  []Plot
}

// Claim is a statement of the paper, as printed and as it is.
type Claim struct {
	Statement    string `json:"statement"`
	Printed      string `json:"printed"`      // what the paper says; "": nothing of this
	True         string `json:"true"`         // what holds; "": what is printed
	Found        string `json:"found"`        // the computed evidence for both
	PrintedHolds bool   `json:"printedHolds"` // in all that was computed
	TrueHolds    bool   `json:"trueHolds"`
}

// Table is written as NAME.csv. Cells are text, whole numbers, float64 or bool.
type Table struct {
	Name, Title string
	Columns     []string
	Rows        [][]any
}

func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Plot is written as NAME.png and NAME.svg.
type Plot struct {
	Name, Caption string
	Panels        []*plot.Plot // side by side
}

// Check returns [ErrOptions] where an option is out of range.
func (o Options) Check() error {
	if o.Trials < 0 || o.Trials > maxTrials {
		return fmt.Errorf("%w: %d trials, want 1 to %d, or 0 for each exhibit's own number", ErrOptions, o.Trials, maxTrials)
	}
	return nil
}

// Run computes an exhibit. It returns [ErrOptions] before any work where an option is
// out of range.
func (e Exhibit) Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	r := &runner{Options: o, Result: Result{Exhibit: e}}
	var err error
	if r.statements, err = readStatements(); err == nil {
		err = e.run(ctx, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	return &r.Result, nil
}

// runner is an exhibit in the making.
type runner struct {
	Options
	Result
	statements map[string][]string
}

// trials is the number for a point whose own is n.
func (r *runner) trials(n int) int {
	switch {
	case r.Options.Trials > 0:
		return r.Options.Trials
	case r.Quick:
		return max(4, n/10)
	}
	return n
}

// random is the generator of trial k of a stage.
func (r *runner) random(stage string, k int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(stage))
	return rand.New(rand.NewPCG(r.Seed, h.Sum64()+uint64(k)))
}

// each calls work for 0 … n−1, several at once. Work keeps its result by its number.
func (r *runner) each(ctx context.Context, stage string, n int, work func(ctx context.Context, k int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	done := int64(0)
	for k := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := work(ctx, k); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			r.Progress(r.Name+": "+stage, done, int64(n))
			return nil
		})
	}
	return group.Wait()
}

// claim adds what was found for a statement of statements.csv.
func (r *runner) claim(name string, printedHolds, trueHolds bool, found string, args ...any) {
	s, ok := r.statements[name]
	if !ok {
		panic("paper: no statement is called " + name)
	}
	r.Claims = append(r.Claims, Claim{s[1], s[2], s[3], fmt.Sprintf(found, args...), printedHolds, trueHolds})
}

// table adds a table, with its columns separated by commas.
func (r *runner) table(name, title, columns string) *Table {
	t := &Table{Name: name, Title: title, Columns: strings.Split(columns, ",")}
	r.Tables = append(r.Tables, t)
	return t
}

//go:embed statements.csv
var statements string

// readStatements returns what the paper says and what holds, by name.
func readStatements() (map[string][]string, error) {
	rows, err := csv.NewReader(strings.NewReader(statements)).ReadAll()
	out := make(map[string][]string, len(rows))
	for _, row := range rows {
		out[row[0]] = row
	}
	return out, err
}

func (r *runner) say(format string, args ...any) {
	r.Text = append(r.Text, fmt.Sprintf(format, args...))
}
