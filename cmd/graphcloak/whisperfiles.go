// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/run"
)

// holdsAnswers reports whether a file is a plan or a release of answers of yes or no. What cannot be read is told by who reads all of it.
func holdsAnswers(path string) bool {
	data, err := disk.Read(path, maxFile)
	if err != nil {
		return false
	}
	var has struct {
		Question json.RawMessage `json:"question"`
		Answers  json.RawMessage `json:"answers"`
	}
	return json.Unmarshal(data, &has) == nil && (has.Question != nil || has.Answers != nil)
}

// aboutWhisper reports whether a command is asked for a whisper, by its settings or by its file.
func (a *app) aboutWhisper(path string) bool {
	return a.config.Signal.AnswerProperty != "" || path != "" && holdsAnswers(path)
}

// readAnswerPlan reads a plan of answers, which is of the rumour that the settings name.
func (a *app) readAnswerPlan(path string, p *graphcloak.Whisper) error {
	if err := a.readUnder(path, "plan", p, &p.Model); err != nil {
		return err
	}
	if s := a.config.Signal.AnswerProperty; s != "" && s != p.Rumour {
		return fail(exitConflict, "the plan asks about %q, not about %q", p.Rumour, s).
			hint("--answer-property %s", term.QuoteShell(p.Rumour))
	}
	return nil
}

// readAnswers is readUnder for a release of answers.
func (a *app) readAnswers(path string, r *run.AnswerRelease) error {
	if err := readJSON(path, "release", r); err != nil {
		return err
	}
	a.agreeQueries(&r.Plan.Model)
	return nil
}
