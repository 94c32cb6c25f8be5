// SPDX-License-Identifier: Apache-2.0

package study_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// open copies a shipped graph into a folder store.
func open(t *testing.T, example string) *folder.Store {
	t.Helper()
	source, err := builtin.Example(example)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	return openFolder(t, dir)
}

func openFolder(t *testing.T, dir string) *folder.Store {
	t.Helper()
	s, err := folder.New(t.Context(), dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// karate is a job on the karate club under uniform noise at ε = 4, δ = 0.1.
func karate() graphcloak.Job {
	return graphcloak.Job{
		Settings: graphcloak.Settings{Tau: 2, Public: graphcloak.Public{Communities: community.Options{Property: "club"}}},
		Plan: graphcloak.PlanOptions{
			Budget: privacy.Budget{Epsilon: 4, Delta: 0.1}, Alpha: 1, Allocation: graphcloak.Allocation{Uniform: true},
		},
	}
}

// studied is a model with a plan.
func studied(t *testing.T, s graphcloak.Store, job graphcloak.Job) (*graphcloak.Model, *graphcloak.Plan) {
	t.Helper()
	m, err := graphcloak.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Plan(t.Context(), job.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// heatKernel is e^{-τL} by gonum's matrix exponential.
func heatKernel(g *graph.Graph, tau float64) *mat.Dense {
	n := g.Order()
	l := mat.NewDense(n, n, nil)
	for e := range g.Edges() {
		l.Set(e.U, e.V, tau*e.Weight)
		l.Set(e.V, e.U, tau*e.Weight)
		l.Set(e.U, e.U, l.At(e.U, e.U)-tau*e.Weight)
		l.Set(e.V, e.V, l.At(e.V, e.V)-tau*e.Weight)
	}
	var m mat.Dense
	m.Exp(l)
	return &m
}

func roundTrip(t *testing.T, from, to any) {
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
