// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// open copies a shipped graph into a folder store.
func open(t *testing.T, example string) *folder.Store {
	t.Helper()
	s, _ := testkit.Example(t, example)
	return s
}

// options are those of an evaluation of so many trials.
func options(trials int, o simulate.Options) study.Options {
	return study.Options{Trials: trials, Options: o}
}

// karate is a job on the karate club under uniform noise at ε = 4, δ = 0.1.
func karate() run.Job {
	return run.Job{
		Settings: plan.Settings{Tau: tau.At(2), Public: plan.Public{Communities: community.Options{Property: "club"}}},
		Plan: plan.Options{
			Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1, Allocation: plan.Allocation{Uniform: true},
		},
	}
}
