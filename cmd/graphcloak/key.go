// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

func newKeyCommand(app *app) *cobra.Command {
	return newGroup("key", "Secrets of escrow randomness", newKeyCreateCommand(app), newKeyDeriveCommand(app))
}

func newKeyCreateCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create FILE",
		Short: "Draw a master secret",
		Long: "create writes 32 random bytes to a new file of mode 0600. The file removes the noise of every escrow release of its\n" +
			"epoch. To rotate, create another and use the next number of --deployment.",
		Example: "  graphcloak key create epoch-1.key",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := sensor.CreateKeyFile(args[0]); err != nil {
				return err
			}
			return app.render(map[string]any{"file": args[0], "bytes": privacy.KeySize}, term.Section{
				Text: fmt.Sprintf("Wrote a master secret to %s. Keep a copy that only the trusted holder can read, or none.", args[0]),
			})
		},
	}
	return app.withSettings(cmd, nil, nil, config.GroupOutput)
}

func newKeyDeriveCommand(app *app) *cobra.Command {
	master, dir := "", ""
	cmd := &cobra.Command{
		Use:   "derive PACKAGE...",
		Short: "Make each sensor's own key from the master secret",
		Long: "derive writes a key file of mode 0600 for each sensor package, for `graphcloak cloak --key`. A sensor's key says\n" +
			"nothing about another sensor's or another epoch's.",
		Example: "  graphcloak key derive --key epoch-1.key --dir keys packages/*.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if master == "" {
				return fail(exitUsage, "no master secret is named").hint("give --key FILE, made by `graphcloak key create`")
			}
			files, err := sensor.DeriveKeys(master, dir, args)
			if err != nil {
				return asRefusal(err)
			}
			return app.render(map[string]any{"files": files}, term.Table([]string{"file"}, files, func(f string) []any { return []any{f} }))
		},
	}
	cmd = app.withSettings(cmd, nil, nil, config.GroupOutput)
	cmd.Flags().StringVar(&master, "key", "", "`FILE` with the master secret")
	cmd.Flags().StringVar(&dir, "dir", "keys", "`DIR` for the sensors' keys")
	return cmd
}

// needDrawnID refuses escrow randomness for a release whose id is not drawn: another
// store with the same key may have the id too, and equal readings under one id have
// equal noise, whatever either ledger knows.
func needDrawnID(r privacy.Randomness, who string) error {
	if r != privacy.EscrowRandomness {
		return nil
	}
	return fail(exitValidation, "%s the release, and under escrow randomness an id that another store may use too shows which "+
		"readings are equal", who).
		hint("leave --deployment out, or let `graphcloak run` and `graphcloak release` draw an id")
}

// noise opens the source of noise that a plan asks for; nil is the system's.
func (a *app) noise(r privacy.Randomness) (privacy.Noise, error) {
	e := a.config.Escrow
	if r != privacy.EscrowRandomness {
		if a.config.Origin("keyFile").Layer == config.LayerFlag {
			return nil, fail(exitUsage, "noise comes from the system: there is nothing that a key could do").
				hint("leave --key out, or give --deployment NAME too")
		}
		return nil, nil
	}
	switch {
	case e.KeyFile == "":
		return nil, fail(exitUsage, "escrow randomness needs a key").hint("give --key FILE, made by `graphcloak key create`")
	case e.Deployment.Name == "":
		return nil, fail(exitUsage, "escrow randomness needs the name of its deployment").hint("give --deployment NAME")
	}
	secret, err := sensor.ReadKeyFile(e.KeyFile)
	if err != nil {
		return nil, asRefusal(err)
	}
	escrow, err := privacy.NewEscrow(secret, e.Deployment.Name, e.Deployment.Number)
	if err != nil {
		return nil, asRefusal(err)
	}
	return escrow, nil
}

// throwawayNoise is noise for made-up readings: under escrow randomness, of a random
// secret that is not kept.
func throwawayNoise(r privacy.Randomness) (privacy.Noise, error) {
	if r != privacy.EscrowRandomness {
		return nil, nil
	}
	secret := make([]byte, privacy.KeySize)
	rand.Read(secret)
	return privacy.NewEscrow(secret, "audit", 0)
}
