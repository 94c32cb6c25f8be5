// SPDX-License-Identifier: Apache-2.0

package graphcloak

import (
	"context"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

// Release spends the plan's budget and releases. The signal is read and checked
// first, the spend is durable before the noise is drawn, and nothing is refunded.
// It returns the errors of [Model.CheckRelease], such as [ErrIsolated], [ErrKey] where c.Noise is not of the plan's
// randomness, those of [privacy.Spend], and an [UnfinishedError] where the budget is or
// may be spent.
func (m *Model) Release(ctx context.Context, p *Plan, s Signal, c Spend) (*Release, error) {
	l, err := ledgerOf(m.source, c.Ledger)
	if err != nil {
		return nil, err
	}
	if err := checkPublished(ctx, l, s); err != nil {
		return nil, err
	}
	if err := m.verifyPlan(ctx, p); err != nil {
		return nil, err
	}
	y, err := m.readings(ctx, p, s)
	if err != nil {
		return nil, err
	}
	if c.ReleaseID == "" {
		if c.ReleaseID, err = NewRunID(); err != nil {
			return nil, err
		}
	}
	if c.Attempt == "" {
		c.Attempt = privacy.NewAttempt()
	}
	a, draw, err := m.attemptFromStore(p, Job{Signal: s, RunID: c.ReleaseID, Noise: c.Noise}, y, c.Attempt)
	if err != nil {
		return nil, err
	}
	return m.pay(ctx, a, report.Table{}, Job{Ledger: l, RunID: c.ReleaseID, RequireCap: c.RequireCap}, draw)
}

// Spend identifies a release in the ledger.
type Spend struct {
	Ledger     privacy.Ledger // nil: the source's own
	ReleaseID  string         // unique in the scope of its signal, see [Scope]; "": a new one
	Attempt    string         // token of this attempt; "": a new one
	Noise      privacy.Noise  // nil: the operating system's
	RequireCap bool           // refuse a scope without a cap, with [ErrNoCap]
}
