// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
)

// snapshotCommands are run one after the other on a graph of the folder "graph"; each but the first reads its snapshot.
var snapshotCommands = [][]string{
	{"graph", "snapshot", "--from", "folder:graph", "--isolated", "drop", "graph/graph.snapshot"},
	{
		"plan", "--from", "snapshot:graph/graph.snapshot", "--isolated", "drop", "--source-property", "source", "--tau", "2",
		"--epsilon", "10", "--delta", "1e-7", "--allocation", "uniform", "-o", "plan.json",
	},
	{"release", "--from", "snapshot:graph/graph.snapshot", "--plan", "plan.json", "--source-property", "source", "-o", "release.json"},
	{"recover", "--from", "snapshot:graph/graph.snapshot", "--release", "release.json", "--mode", "stats"},
}

var snapshots = topic{
	name:  "snapshot",
	title: "Growth with size, from a snapshot",
	about: "`graphcloak graph snapshot`, then `plan`, `release` and `recover` that read it and the file of the one before: a sensor at " +
		"each node, uniform noise, τ = 2, ε = 10, on all processors, once. A cell has the CPU seconds and the GiB of a process, and what " +
		"these are for a node. Plans of 300,000 nodes and fewer also simulate how often the answer is right.",
	head: []string{"graph", "relationships", "snapshot", "plan", "release", "recover"},
	row:  snapshotRow,
	cases: func(quick bool) (list []comparison) {
		for _, spec := range snapshotSpecs(quick) {
			list = append(list, comparison{
				name: spec, workers: []int{runtime.NumCPU()},
				ours: func(ctx context.Context, dir string) (measure, error) { return snapshotRun(ctx, dir, spec) },
			})
		}
		return list
	},
}

func snapshotSpecs(quick bool) []string {
	if quick {
		return []string{"road-like,n=10000,seed=1"}
	}
	return []string{
		"road-like,n=100000,seed=1", "road-like,n=300000,seed=1", "road-like,n=1000000,seed=1",
		"knn,n=100000,k=8,seed=1",
	}
}

// snapshotRun measures the commands on a generated graph. Phases has the nodes, the relationships, and then the seconds and bytes of each.
func snapshotRun(ctx context.Context, dir, spec string) (m measure, err error) {
	c := cli{path: filepath.Join(dir, "program"), dir: dir}
	if err := c.build(ctx); err != nil {
		return m, err
	}
	if _, err := c.run(ctx, "graph", "generate", spec, "graph"); err != nil {
		return m, err
	}
	for i, command := range snapshotCommands {
		o, err := c.run(ctx, command...)
		if err != nil {
			return m, err
		}
		if i == 0 {
			var is struct{ NodeCount, RelationshipCount float64 }
			if err := json.Unmarshal(o.text, &is); err != nil {
				return m, err
			}
			m.Phases = []float64{is.NodeCount, is.RelationshipCount}
		}
		m.Phases = append(m.Phases, o.seconds, o.bytes)
		m.CPU, m.Memory = m.CPU+o.seconds, max(m.Memory, int64(o.bytes))
	}
	return m, nil
}

// snapshotRow is a line as a row of the table of [snapshots].
func snapshotRow(l line, _ bool) string {
	if l.err != nil {
		return cells("`"+l.name+"`", "", "", "", "", "**"+oneLine(l.err)+"**")
	}
	nodes, list := l.theirs.Phases[0], []string{"`" + l.name + "`", fmt.Sprintf("%.0f", l.theirs.Phases[1])}
	for pair := range slices.Chunk(l.theirs.Phases[2:], 2) {
		list = append(list, fmt.Sprintf("%.3g s, %.2g GiB; %.2g µs, %.0f B", pair[0], pair[1]/(1<<30), 1e6*pair[0]/nodes, pair[1]/nodes))
	}
	return cells(list...)
}
