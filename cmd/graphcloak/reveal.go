// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

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
		Example: "  graphcloak reveal --from folder:mygraph --release release.json --key epoch-1.key",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" || key == "" {
				return fail(exitUsage, "a release and a key are needed").hint("give --release FILE and --key FILE")
			}
			return app.reveal(cmd.Context(), path, key)
		},
	}
	cmd = app.withSettings(cmd, nil, storeGroups)
	cmd.Flags().StringVar(&path, "release", "", "release `FILE`")
	cmd.Flags().StringVar(&key, "key", "", "`FILE` with the master secret of the release's epoch")
	return cmd
}

func (a *app) reveal(ctx context.Context, path, key string) error {
	if holdsAnswers(path) {
		var r run.AnswerRelease
		if err := a.readAnswers(path, &r); err != nil {
			return err
		}
		var ids []graph.ID
		for _, v := range r.Answers() {
			ids = append(ids, v.ID)
		}
		return revealValues(ctx, a, &r, key, revealedValues[bool]{"truth", "this is what people had heard", ids, r.Reveal})
	}
	var r graphcloak.Release
	if err := a.readUnder(path, "release", &r, &r.Model); err != nil {
		return err
	}
	var ids []graph.ID
	for _, s := range r.Plan().Sensors {
		ids = append(ids, s.ID)
	}
	return revealValues(ctx, a, &r, key, revealedValues[float64]{
		"reading", "these are the readings themselves", ids,
		func(e *privacy.Escrow) ([]float64, error) { return e.Reveal(r.Release) },
	})
}

// inEscrow is a release whose randomness may be that of a deployment.
type inEscrow interface {
	run.Drawn
	Escrow() (deployment string, epoch uint32)
}

// revealedValues are what a reveal shows.
type revealedValues[T any] struct {
	name, text string
	ids        []graph.ID
	open       func(*privacy.Escrow) ([]T, error)
}

// revealValues shows what a release hides, once the ledger has it on record.
func revealValues[T any](ctx context.Context, a *app, r inEscrow, key string, v revealedValues[T]) error {
	secret, err := sensor.ReadKeyFile(key)
	if err != nil {
		return asRefusal(err)
	}
	deployment, epoch := r.Escrow()
	if deployment == "" {
		return fail(exitValidation, "release %s took its randomness from the system: nobody can remove it", r.ID()).
			hint("only releases with --deployment can be revealed")
	}
	escrow, err := privacy.NewEscrow(secret, deployment, epoch)
	if err != nil {
		return asRefusal(err)
	}
	values, err := v.open(escrow)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	entries, err := run.Payment(ctx, s.Ledger(), r)
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
	return showRevealed(a, r, v, values, record)
}

func showRevealed[T any](a *app, r inEscrow, v revealedValues[T], values []T, record privacy.Entry) error {
	deployment, epoch := r.Escrow()
	rows, table := make([]map[string]any, len(values)), make([][]any, len(values))
	for i, x := range values {
		rows[i], table[i] = map[string]any{"nodeId": v.ids[i], v.name: x}, []any{string(v.ids[i]), x}
	}
	a.secret = true
	return a.render(map[string]any{
		"releaseId": r.ID(), "deployment": deployment, "epoch": epoch, "budgetScope": record.Scope, "ledgerEntry": record.Seq,
		"ledgerHash": record.Hash, v.name + "s": rows,
	},
		term.Section{Text: fmt.Sprintf("Release %s is revealed: %s. Entry %d of the ledger's scope %q records it.", r.ID(), v.text,
			record.Seq, record.Scope)},
		term.Section{
			Title: "Values" + moreText(len(values)), Columns: []string{"nodeId", v.name}, Rows: slices.Values(fewRows(a, table)),
		})
}
