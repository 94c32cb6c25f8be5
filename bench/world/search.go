// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"runtime"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/privacy"
)

// searchStudy measures what the search for τ costs beside the plan at that τ: processor time on
// one core, of one process, so that the quotient says the same on a busy machine.
func searchStudy() experiment {
	return experiment{name: "search", about: "time of the search for the diffusion time, beside one plan", trials: 3, run: runSearch}
}

func runSearch(ctx context.Context, s settings) ([]table, error) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	graphs := s.chosenGraphs("karate", "net3", "sbm,n=500,k=5,in=0.05,out=0.001,seed=1", "minnesota", "net6",
		"sbm,n=3000,k=5,in=0.01,out=0.0002,seed=1", "barabasi-albert,n=3000,m=2,seed=1")
	t := table{
		title: fmt.Sprintf("CPU seconds on one core of the search for τ, for the community, and of a plan with that τ given: the least of %d. "+
			"Plan with search is the sum of the two over the second.", s.trials),
		columns: []string{"graph", "nodes", "ε", "τ", "tried", "search", "plan", "plan with search"},
	}
	for _, b := range s.budgets() {
		for _, name := range graphs {
			row, err := s.searchRow(ctx, name, b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			log.Printf("%v", row)
			t.rows = append(t.rows, row)
		}
	}
	return []table{t}, nil
}

func (s settings) searchRow(ctx context.Context, name string, b privacy.Budget) (row []string, err error) {
	var search, plan float64
	opts := graphcloak.PlanOptions{Budget: b, Alpha: 1}
	for range s.trials {
		err = instance.With(ctx, s.data, name, 0, func(m *graphcloak.Model) error {
			if _, err := m.Partition(ctx); err != nil {
				return err
			}
			start := userSeconds()
			c, err := m.ChooseTau(ctx, opts)
			if err != nil {
				return err
			}
			chosen := userSeconds()
			if _, err := m.Plan(ctx, opts); err != nil {
				return err
			}
			search, plan = least(search, chosen-start), least(plan, userSeconds()-chosen)
			row = []string{name, fmt.Sprint(m.Graph.Order()), fmt.Sprint(b.Epsilon), fmt.Sprint(m.Tau), fmt.Sprint(len(c.Points))}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return append(row, fmt.Sprintf("%.2f", search), fmt.Sprintf("%.2f", plan), fmt.Sprintf("%.1f×", (search+plan)/plan)), nil
}

// least is the smaller of two times, of which 0 is none yet.
func least(a, b float64) float64 { return min(cmp.Or(a, b), b) }
