// SPDX-License-Identifier: Apache-2.0

// Package simulate draws sources, adds the noise of a plan and scores what is recovered.
//
// Start with [New], which prepares a model for all plans, and [Simulator.Under], which
// simulates one of them. It reads no signal and spends nothing.
package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
)

// Options steer a [Simulator]; the zero value is the default.
type Options struct {
	Seed uint64 // of sources and noise: the same seed, the same bits
	// Amplitude of the sources in (0, 1]; 0: uniform in [0, 1], drawn again for each.
	Amplitude float64
	Scenario  Scenario        // what happens; the zero value is the model
	Recover   analyst.Options // of the posterior
	Past      bool            // the trials are past events, each recovered from as a report of one source
	// Common draws the same standard normal numbers for a node under every plan, so that accuracy is a smooth
	// function of σ and can be searched by bisection. Sensors are supposed sound, and no trial is tested for a source.
	Common bool
}

// Simulator simulates on one model. Trial t has the same source under every plan.
type Simulator struct {
	Partition community.Partition
	Prior     []float64 // of the sources; sums to 1
	Estimated bool      // the column norms under a plan were estimated

	model      *plan.Model
	opts       Options
	cumulative []float64 // the prior's sums
	noise      *privacy.Escrow
	blockSize  int             // trials that are multiplied together
	process    operator        // of the scenario
	diffusion  *expm.Diffusion // its e^{-τL}; nil with a given operator
}

// blockValues bounds a block of trials at 64 MiB.
const blockValues = 1 << 23

// New returns a simulator. It returns [recovery.ErrInvalid] for a prior that cannot be normalised or a scenario that changes
// nothing, [plan.ErrMemory], [graph.ErrBadWeight] where a scenario makes weights too large, and the errors of
// [graph.Graph.Changed] and [plan.Model.Partition].
func New(ctx context.Context, m *plan.Model, opts Options) (*Simulator, error) {
	n := m.Graph.Order()
	s := &Simulator{model: m, opts: opts, Prior: slices.Clone(m.Prior), blockSize: max(1, min(16, blockValues/n))}
	var err error
	if s.Partition, err = m.Partition(ctx); err != nil {
		return nil, err
	}
	if s.Prior == nil {
		s.Prior = slices.Repeat([]float64{1}, n)
	}
	total := floats.Sum(s.Prior)
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fmt.Errorf("%w: the prior adds up to %v, want > 0 and finite", recovery.ErrInvalid, total)
	}
	floats.Scale(1/total, s.Prior)
	s.cumulative = floats.CumSum(make([]float64, n), s.Prior)
	if s.process, s.diffusion, err = opts.Scenario.process(ctx, m, opts.Seed); err != nil {
		return nil, err
	}
	// Three blocks here and four in the product; each worker ranks a posterior.
	if err := m.CheckMemory("evaluation", 8*int64(n)*int64(7*s.blockSize+8*runtime.GOMAXPROCS(0))); err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("graphcloak/v1/evaluate"), opts.Seed))
	s.noise, err = privacy.NewEscrow(key[:], "evaluate", 0)
	return s, err
}

// Chance is how often always naming the likeliest community of the prior is right.
func (s *Simulator) Chance() float64 { return floats.Max(s.Partition.Sums(s.Prior)) }

// source draws a node from the prior.
func (s *Simulator) source(random *rand.Rand) int {
	last := len(s.cumulative) - 1
	at := random.Float64() * s.cumulative[last]
	return sort.Search(last, func(i int) bool { return s.cumulative[i] > at })
}

// excite adds the sources of a trial to column j of k, and returns their nodes, of which the first is the trial's.
func (s *Simulator) excite(x []float64, k, j, trial int) []int {
	w := &s.opts.Scenario
	if w.sources < 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(s.opts.Seed, uint64(trial)))
	nodes, amplitude := []int{s.source(random)}, s.opts.Amplitude
	if amplitude == 0 {
		amplitude = random.Float64()
	}
	random = w.random(s.opts.Seed, trial)
	for range w.sources {
		nodes = append(nodes, s.source(random))
	}
	for _, i := range nodes {
		near := s.model.Graph.Neighbors(i)
		if !w.blob || len(near) == 0 {
			x[i*k+j] += amplitude
			continue
		}
		x[i*k+j] += amplitude / 2
		for _, n := range near {
			x[int(n)*k+j] += amplitude / 2 / float64(len(near))
		}
	}
	return nodes
}

// faultWork bounds nodes times sensors where a trial supposes broken sensors without being
// asked to: it takes seconds beyond.
const faultWork = 250_000

// SupposesFaults reports whether the posterior of a trial supposes broken sensors, as that of a release of
// measured readings does.
func (s *Simulator) SupposesFaults(p *privacy.Plan) bool {
	switch rate := s.opts.Recover.FaultRate; {
	case s.opts.Common:
		return false
	case rate != nil:
		return *rate > 0
	case s.opts.Past:
		return p.Measured()
	}
	return p.Measured() && s.model.Graph.Order()*len(p.Sensors) <= faultWork
}
