// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/memory"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// A source of five methods is spent from a ledger that the job names, and takes no
// results; one that names no ledger is refused.
func TestBareSource(t *testing.T) {
	g := must.Get(graph.Path(12))(t)
	s := memory.FromGraph(g)
	must.Do(t, s.Set("source", map[graph.ID]any{g.ID(3): 1}))
	bare := struct{ graphcloak.Source }{s}
	job := testkit.PaperJob()
	job.Public, job.Write = graphcloak.Public{}, graphcloak.WriteOptions{}
	do := func() error {
		_, err := graphcloak.Run(t.Context(), bare, job, graphcloak.LoadOptions{})
		return err
	}
	if err := do(); !errors.Is(err, run.ErrNoLedger) {
		t.Errorf("without a ledger: %v, want ErrNoLedger", err)
	}
	var l privacy.MemoryLedger
	job.Ledger = &l
	job.Write.Enabled = true
	if err := do(); !errors.Is(err, run.ErrNoSink) {
		t.Errorf("without a sink: %v, want ErrNoSink", err)
	}
	unspent(t, &l)
	other := memory.FromGraph(g)
	job.Write.To = other
	if err := do(); err == nil {
		t.Error("a sink took results on a graph of another store")
	}
	job.Write.Enabled = false
	must.Do(t, do())
	if a, err := privacy.VerifyLedger(t.Context(), &l, run.Scope(job.Signal)); err != nil || a.Releases != 1 {
		t.Errorf("the ledger holds %d releases, %v, want 1", a.Releases, err)
	}
	unspent(t, s.Ledger())
}
