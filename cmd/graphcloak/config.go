// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/jobs"
)

func newConfigCommand(app *app) *cobra.Command {
	return newGroup("config", "Show and check settings",
		newConfigViewCommand(app), newConfigValidateCommand(app))
}

func newConfigViewCommand(app *app) *cobra.Command {
	return app.withSettings(&cobra.Command{
		Use:     "view",
		Short:   "Every setting as it would be used, and where it came from; secrets are masked",
		Example: "  graphcloak config view\n  graphcloak config view --tau 3",
		RunE: func(*cobra.Command, []string) error {
			entries := app.config.Entries()
			return app.render(map[string]any{"settings": entries},
				term.Table([]string{"key", "value", "origin"}, entries, func(e config.Entry) []any {
					return []any{e.Key, settingText(e.Value), e.Origin}
				}))
		},
	}, nil, config.Groups()[:len(config.Groups())-1])
}

func newConfigValidateCommand(app *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "validate FILE",
		Short:   "Check a file of settings, with its jobs",
		Example: "  graphcloak config validate graphcloak.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			checked := args[0]
			if err := checkNamed(checked, ""); err != nil {
				return err
			}
			if err := config.LoadFile(checked); err != nil {
				return err
			}
			if err := app.checkJobs(checked); err != nil {
				return err
			}
			return app.render(map[string]any{"checked": checked, "valid": true}, term.Section{Text: checked + ": valid"})
		},
		Annotations: map[string]string{flagsOnly: "true"},
	}
	return app.withSettings(cmd, nil, nil, config.GroupOutput)
}

// checkJobs checks every job of a file, as `serve` would run it with this file alone.
func (a *app) checkJobs(path string) error {
	c, err := config.Load(config.Layers{File: path, Defaults: jobDefaults})
	if err != nil {
		return err
	}
	runner := jobRunner{app: a}
	runner.app = runner.with(c)
	var problems []error
	if len(c.Jobs) > 0 && c.From.Kind != "" {
		problems = append(problems, runner.app.onServer())
	}
	for i, fields := range c.Jobs {
		d, err := jobs.Define(fields)
		if err == nil {
			err = runner.Check(d)
		}
		if err != nil {
			problems = append(problems, fail(exitValidation, "jobs[%d]: %w", i, err))
		}
	}
	return errors.Join(problems...)
}
