// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/run"
)

func newRevealCommand(app *app) *cobra.Command {
	var path, key string
	cmd := &cobra.Command{
		Use:   "reveal",
		Short: "With the master secret: remove the noise of an escrow release, on record",
		Long: "reveal takes the noise off and checks every value against its nonce: the result is the readings, clipped and rounded\n" +
			"to their lattice. A wrong key or a changed value is refused. The ledger of the store records the reveal before\n" +
			"anything is shown.",
		Example: "  graphcloak reveal --from folder:mygraph --release release.json --key epoch-1.key\n" +
			"  graphcloak reveal --uri neo4j://localhost:7687 -u neo4j --release release.json --key epoch-1.key --format csv",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" || key == "" {
				return fail(exitUsage, "a release and a key are needed").hint("give --release FILE and --key FILE")
			}
			return app.reveal(cmd.Context(), path, key)
		},
	}
	cmd = app.withSettings(cmd, nil, storeGroups...)
	cmd.Flags().StringVar(&path, "release", "", "release `FILE`")
	cmd.Flags().StringVar(&key, "key", "", "`FILE` with the master secret of the release's epoch")
	return cmd
}

func (a *app) reveal(ctx context.Context, path, key string) error {
	if holdsAnswers(path) {
		return a.revealAnswers(ctx, path, key)
	}
	var r graphcloak.Release
	if err := a.readRelease(path, &r); err != nil {
		return err
	}
	secret, err := sensor.ReadKeyFile(key)
	if err != nil {
		return asRefusal(err)
	}
	deployment, epoch := r.Escrow()
	if deployment == "" {
		return fail(exitValidation, "release %s drew its noise from the system: nobody can remove it", r.ID()).
			hint("only releases with --deployment can be revealed")
	}
	escrow, err := privacy.NewEscrow(secret, deployment, epoch)
	if err != nil {
		return asRefusal(err)
	}
	y, err := escrow.Reveal(r.Release)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	entries, err := run.Payment(ctx, s.Ledger(), &r)
	if err != nil {
		return err
	}
	digest, err := r.Digest()
	if err != nil {
		return err
	}
	record, err := privacy.MarkRevealed(ctx, s.Ledger(), entries[0].Scope, r.ID(), digest)
	if err != nil {
		return fmt.Errorf("record the reveal: %w", err)
	}
	return a.showReveal(&r, y, record)
}

func (a *app) showReveal(r *graphcloak.Release, y []float64, record privacy.Entry) error {
	type row struct {
		NodeID  graph.ID `json:"nodeId"`
		Reading float64  `json:"reading"`
	}
	rows := make([]row, len(y))
	for i, s := range r.Plan().Sensors {
		rows[i] = row{s.ID, y[i]}
	}
	shown := rows
	if a.outputFormat() == "table" {
		shown = rows[:min(shownRows, len(rows))]
	}
	deployment, epoch := r.Escrow()
	result := struct {
		ReleaseID  string         `json:"releaseId"`
		Deployment string         `json:"deployment"`
		Epoch      uint32         `json:"epoch"`
		Scope      string         `json:"budgetScope"`
		Entry      int64          `json:"ledgerEntry"`
		Hash       privacy.Digest `json:"ledgerHash"`
		Readings   []row          `json:"readings"`
	}{r.ID(), deployment, epoch, record.Scope, record.Seq, record.Hash, rows}
	a.secret = true
	return a.render(result,
		term.Section{Text: fmt.Sprintf("Release %s is revealed: these are the readings themselves. Entry %d of the ledger's scope "+
			"%q records it.",
			r.ID(), record.Seq, record.Scope)},
		term.Section{
			Title: "Readings" + moreText(len(rows)), Columns: []string{"nodeId", "reading"},
			Rows: term.Rows(shown, func(v row) []any { return []any{string(v.NodeID), v.Reading} }),
		})
}
