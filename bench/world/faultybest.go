// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// aimedAttack is the law of liars that aim: which k lie follows from a source or a decoy, and what they read from
// both.
type aimedAttack struct {
	*faultBench
	fault
	heard [][]int // for each node, the k sensors that it moves most
}

// aimedAttack returns nil where faults are anywhere.
func (b *faultBench) aimedAttack(f fault, k int) *aimedAttack {
	if f.aim == anywhere {
		return nil
	}
	a := &aimedAttack{faultBench: b, fault: f}
	for _, x := range b.column {
		order := make([]int, len(x))
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(s, t int) int { return cmp.Compare(x[t], x[s]) })
		a.heard = append(a.heard, order[:k])
	}
	return a
}

func (a *aimedAttack) liars(source, decoy int) []int {
	if a.aim == atSource {
		return a.heard[source]
	}
	return a.heard[decoy]
}

// posterior is that of the source given the law of the attack, with every decoy as likely as another: under
// that law no rule is right more often than its likeliest community. The readings of aimed liars are certain.
func (a *aimedAttack) posterior(y []float64) []float64 {
	n := len(a.column)
	logs, over := make([]float64, n), make([]float64, n)
	decoys := n
	if a.aim == atSource {
		decoys = 1
	}
	for i, x := range a.column {
		honest := -floats.Distance(y, x, 2) * floats.Distance(y, x, 2) / 2
		for j := range decoys {
			over[j] = honest
			for _, s := range a.liars(i, j) {
				lie := a.reading(nil, x[s], a.column[j][s], a.high[s])
				over[j] += (y[s]-x[s])*(y[s]-x[s])/2 - (y[s]-lie)*(y[s]-lie)/2
			}
		}
		logs[i] = floats.LogSumExp(over[:decoys])
	}
	return fromLogs(logs)
}

// atBest is the posterior of one who is told how sensors are broken and how many, or how liars aim, and not which they are.
func (b *faultBench) atBest(ctx context.Context, y []float64, f fault, k int, aimed *aimedAttack) (*posterior.Posterior, error) {
	var prior []float64
	if aimed != nil {
		prior = aimed.posterior(y)
	} else {
		prior = b.knownLaw(f.law, k, y)
	}
	// A row of zeros says nothing: the prior is the posterior.
	nothing := measurement.Data{A: linop.Dense{M: mat.NewDense(1, len(b.column), nil)}, Y: []float64{0}}
	return posterior.New(ctx, nothing, posterior.Options{Prior: prior})
}

// told is the posterior of one who is told which sensors are broken, and does without them.
func (b *faultBench) told(ctx context.Context, y []float64, broken []int) (*posterior.Posterior, error) {
	sound := b.a.A.(linop.Scaled)
	sound.Scale = slices.Clone(sound.Scale)
	for _, s := range broken {
		sound.Scale[s] = 0
	}
	return posterior.New(ctx, measurement.Data{A: sound, Y: y}, posterior.Options{Amplitude: posterior.UnitAmplitude})
}
