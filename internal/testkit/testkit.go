// SPDX-License-Identifier: Apache-2.0

// Package testkit is what tests of the front door and of package study begin with: a
// shipped graph in a folder of its own, a model with a plan, and oracles for both.
package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// Example copies a shipped graph into a folder store, which it returns with its folder.
func Example(t *testing.T, name string) (*folder.Store, string) {
	t.Helper()
	source, err := builtin.Example(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	return Folder(t, dir), dir
}

// Folder opens a folder until the test ends.
func Folder(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// Graph makes a folder store of two CSV texts, which it returns with its folder.
func Graph(t *testing.T, nodes, relationships string) (*folder.Store, string) {
	t.Helper()
	dir := t.TempDir()
	Write(t, dir, "nodes.csv", nodes)
	Write(t, dir, "relationships.csv", relationships)
	return Folder(t, dir), dir
}

// Write writes a file into a folder.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Planned is a model with a plan.
func Planned(t *testing.T, s run.Store, job run.Job) (*run.Model, *plan.Plan) {
	t.Helper()
	m, err := run.Load(t.Context(), s, job.Settings, plan.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Plan(t.Context(), job.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// RoundTrip writes a value as JSON, reads it into to, and compares what that is written as.
func RoundTrip(t *testing.T, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	again, err := json.Marshal(to)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, again) {
		t.Errorf("another file after reading:\n%s\n%s", data, again)
	}
}

// PaperJob is the job of the paper on the karate club: uniform noise for sources.
func PaperJob() run.Job {
	return run.Job{
		Settings: plan.Settings{Tau: tau.At(2), Public: plan.Public{Communities: community.Options{Property: "club"}}},
		Plan: plan.Options{
			Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1, Allocation: plan.Allocation{Uniform: true},
		},
		Signal: plan.Signal{SourceProperty: "source"},
		Write:  run.WriteOptions{Enabled: true},
	}
}

// MeasuredJob is a plan for sensors that measure, at τ = 2 or any in a range.
func MeasuredJob(r tau.Range) run.Job {
	job := PaperJob()
	if job.Plan.Measured = true; r.IsWide() {
		job.Tau = r
	}
	job.Plan.Allocation = plan.Allocation{}
	job.Signal = plan.Signal{MeasurementProperty: "heat"}
	return job
}

// Forge makes a plan file again from the numbers of a plan, some of them changed: all
// in it is consistent, and nothing but the graph tells it from a true one.
func Forge(t *testing.T, p *plan.Plan, change func(*privacy.Spec)) *plan.Plan {
	t.Helper()
	spec := p.Spec()
	change(&spec)
	inner := must.Get(privacy.NewPlan(spec))(t)
	text, err := json.Marshal(&plan.Plan{
		Plan: inner, Model: p.Model, Seed: p.Seed, Accuracy: p.Accuracy, Allocated: p.Allocated,
		PublicProperties: p.PublicProperties,
	})
	if err != nil {
		t.Fatal(err)
	}
	q := new(plan.Plan)
	if err := json.Unmarshal(text, q); err != nil {
		t.Fatalf("a consistent file is refused when it is read: %v", err)
	}
	return q
}
