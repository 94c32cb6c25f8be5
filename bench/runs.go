// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

var runs = topic{
	name:  "run",
	title: "A whole run",
	about: "`graphcloak run --from generate:SPEC --source-property source --mode stats --epsilon 50 --delta 1e-7 --tau 2 " +
		"--allocation uniform` " +
		"on all processors, once, with reading the program and generating the graph. The phases are wall seconds. Recovery takes less " +
		"where f̂ is zero.",
	head: []string{"SPEC", "processors", "nodes of f̂", "wall s", "CPU s", "GiB", "read", "prepare", "privacy", "recovery", "write"},
	row:  runRow,
	cases: func(quick bool) (list []comparison) {
		specs := []string{
			"road-like,n=1000000,seed=1", "sbm,n=100000,k=20,in=0.002,out=0.00001,seed=1", "knn,n=100000,k=10,seed=1",
			"barabasi-albert,n=20000,m=5,seed=1",
		}
		if quick {
			specs = []string{"road-like,n=10000,seed=1", "sbm,n=10000,k=20,in=0.02,out=0.0001,seed=1"}
		}
		for _, spec := range specs {
			list = append(list, comparison{
				name: spec, workers: []int{runtime.NumCPU()},
				ours: func(ctx context.Context, dir string) (measure, error) {
					return commandRun(ctx, dir, spec)
				},
			})
		}
		return list
	},
}

// phases are those of a run, as its report tells them, in milliseconds, and where f̂ is not zero.
type phases struct {
	Read    float64 `json:"readMillis"`
	Project float64 `json:"projectMillis"`
	Prepare float64 `json:"preProcessingMillis"`
	Privacy float64 `json:"privacyMillis"`
	Recover float64 `json:"recoveryMillis"`
	Write   float64 `json:"writeMillis"`
	BPDN    struct {
		Support []json.RawMessage `json:"support"`
	} `json:"bpdn"`
}

// seconds of reading, preparation, privacy, recovery and writing.
func (p phases) seconds() []float64 {
	list := []float64{p.Read, p.Project + p.Prepare, p.Privacy, p.Recover, p.Write}
	for i := range list {
		list[i] /= 1000
	}
	return list
}

// commandRun runs the program on a generated graph.
func commandRun(ctx context.Context, dir, spec string) (m measure, err error) {
	c := cli{path: filepath.Join(dir, "program"), dir: dir}
	if err := c.build(ctx); err != nil {
		return m, err
	}
	begin := time.Now()
	o, err := c.run(ctx, "run", "--from", "generate:"+spec, "--source-property", "source", "--mode", "stats",
		"--epsilon", "50", "--delta", "1e-7", "--tau", "2", "--allocation", "uniform")
	if err != nil {
		return m, err
	}
	m.Wall = time.Since(begin).Seconds()
	var p phases
	if err := json.Unmarshal(o.text, &p); err != nil {
		return m, err
	}
	m.CPU, m.Memory, m.Phases, m.Support = o.seconds, int64(o.bytes), p.seconds(), len(p.BPDN.Support)
	return m, nil
}

// runRow is a line as a row of the table of [runs].
func runRow(l line, _ bool) string {
	if l.err != nil {
		return cells(l.name, l.program, "", "", "", "", "", "", "", "", "**"+oneLine(l.err)+"**")
	}
	m := l.theirs
	list := []string{
		"`" + l.name + "`", l.program, strconv.Itoa(m.Support), fmt.Sprintf("%.3g", m.Wall), fmt.Sprintf("%.3g", m.CPU),
		fmt.Sprintf("%.2g", float64(m.Memory)/(1<<30)),
	}
	for _, v := range m.Phases {
		list = append(list, fmt.Sprintf("%.2g", v))
	}
	return cells(list...)
}
