// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/graphcloak/graphcloak"
)

// estimate says what a run would take and spend. It reads the graph and nothing
// of the signal.
func (a *app) estimate(ctx context.Context, s graphStore, job graphcloak.Job) error {
	e, err := graphcloak.EstimateRun(ctx, s, job)
	if err != nil {
		return err
	}
	columns := []string{
		"nodeCount", "relationshipCount", "requiredMemory", "bytesMin", "bytesMax", "secondsMin", "secondsMax",
		"kernelMethod", "epsilonWouldSpend", "sigma",
	}
	row := []any{
		e.NodeCount, e.RelationshipCount, e.RequiredMemory, e.BytesMin, e.BytesMax, e.SecondsMin, e.SecondsMax,
		e.KernelMethod, e.EpsilonWouldSpend, e.Sigma,
	}
	one := section{columns: columns, rows: slices.Values([][]any{row})}
	if a.outputFormat() != "table" {
		return a.render(e, one)
	}
	return a.render(e, section{title: "Estimate: nothing was run", columns: []string{"name", "value"}, rows: pairs(one)},
		section{text: e.TreeView})
}
