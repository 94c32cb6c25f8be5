// SPDX-License-Identifier: Apache-2.0

package study

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
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/limit"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// Options steer [Evaluate]; the zero value is the default.
type Options struct {
	Trials int    // 0: 1,000
	Seed   uint64 // of sources and noise: the same seed, the same bits
	// Amplitude of the sources in (0, 1]; 0: uniform in [0, 1], drawn again for each.
	Amplitude float64
	// Sources are the nodes of the sources, trial after trial and cyclically; nil: drawn
	// from the prior of the recovery.
	Sources  []int
	Scenario string // by name, of [Scenarios] or of Alternatives; "": the model
	// Alternatives are graphs that the process may run on as further scenarios, each under its name.
	Alternatives []plan.Alternative
	// Recover says how the posterior is computed, and f̂ where Denoise is set.
	Recover analyst.Options
	Denoise bool // also by Basis Pursuit Denoising, which is slower
}

// evaluator simulates on one model. Trial t is the same source under every plan.
type evaluator struct {
	model     *plan.Model
	opts      Options
	part      community.Partition
	prior     []float64 // sums to 1
	noise     *privacy.Escrow
	blockSize int // trials that are multiplied together
	// commonNoise draws the same standard normal numbers for a node under every plan, so
	// that accuracy is a smooth function of σ and can be searched by bisection.
	commonNoise bool
	most        int  // trials of an accuracy that is not told from chance; 0: those of opts
	brief       bool // of a trial only whether it is right
	normsOf     func(ctx context.Context, d measurement.Data, sigmas []float64, seed uint64) (n posterior.Norms, estimated bool, err error)
	world       *reality
	estimated   bool            // the column norms of a plan were
	question    *limit.Question // whose limit was asked for; nil: none yet
}

// blockValues bounds a block of trials at 64 MiB.
const blockValues = 1 << 23

func newEvaluator(ctx context.Context, m *plan.Model, opts Options) (*evaluator, error) {
	s := &evaluator{model: m, opts: opts, normsOf: columnNorms}
	var err error
	if s.part, err = m.Partition(ctx); err != nil {
		return nil, err
	}
	if s.prior, err = normalised(m); err != nil {
		return nil, err
	}
	for _, i := range opts.Sources {
		if i < 0 || i >= m.Graph.Order() {
			return nil, fmt.Errorf("%w: source %d of %d nodes", recovery.ErrInvalid, i, m.Graph.Order())
		}
	}
	scenario, err := scenarioOf(opts.Scenario, opts.Alternatives)
	if err != nil {
		return nil, err
	}
	if s.world, err = newReality(ctx, m, scenario, s.prior, opts.Seed); err != nil {
		return nil, err
	}
	n := m.Graph.Order()
	s.blockSize = max(1, min(16, blockValues/n))
	// Three blocks here and four in the product; each worker ranks a posterior.
	bytes := 8 * int64(n) * int64(7*s.blockSize+8*runtime.GOMAXPROCS(0))
	if err := m.CheckMemory("evaluation", bytes); err != nil {
		return nil, err
	}
	key := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("graphcloak/v1/evaluate"), opts.Seed))
	s.noise, err = privacy.NewEscrow(key[:], "evaluate", 0)
	return s, err
}

// normalised returns the prior of a model, which sums to 1.
func normalised(m *plan.Model) ([]float64, error) {
	p := slices.Clone(m.Prior)
	if p == nil {
		p = make([]float64, m.Graph.Order())
		floats.AddConst(1, p)
	}
	total := floats.Sum(p)
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fmt.Errorf("%w: the prior adds up to %v, want > 0 and finite", recovery.ErrInvalid, total)
	}
	floats.Scale(1/total, p)
	return p, nil
}

// notes says what a reader of the numbers should know.
func (s *evaluator) notes(p *privacy.Plan) []string {
	notes := []string{"sources and noise were simulated: no signal was read, and nothing was spent"}
	strength := map[posterior.Amplitude]float64{posterior.UniformAmplitude: 0, posterior.UnitAmplitude: 1}
	if assumed, ok := strength[s.opts.Recover.Amplitude]; !ok || s.opts.Amplitude != assumed {
		notes = append(notes, "the posterior assumes another amplitude than the sources had: its confidence need not be calibrated")
	}
	switch {
	case s.faults(p):
		notes = append(notes, "the posterior supposes that sensors may be broken")
	case p.Measured() && s.opts.Recover.FaultRate == nil:
		notes = append(notes, "the posterior supposes sound sensors, which that of a release of measured readings does not: "+
			"--sensor-fault-rate 0.01 does as it does, and takes longer")
	}
	if u := p.Uncertainty; u.TauFrom < u.TauTo {
		who := "sums over it, as that of a release does"
		if s.model.Graph.Order() > analyst.DenseLimit {
			who = "supposes the plan's τ, as that of a release of so large a graph does"
		}
		notes = append(notes, fmt.Sprintf("τ was drawn from %v to %v, evenly on a logarithmic scale, and the posterior %s",
			u.TauFrom, u.TauTo, who))
	}
	if graphs := s.model.ListedGraphs(); len(graphs) > 0 {
		who := "sums over the stored graph and the"
		if _, told := s.model.Operator.Processes(graphs, p.Uncertainty.TauFrom, p.Uncertainty.TauTo, len(p.Sensors)); !told ||
			s.opts.Recover.StoredGraph {
			who = "supposes the stored graph, and none of the"
		}
		notes = append(notes, fmt.Sprintf("the posterior %s %d listed, each as likely", who, len(graphs)))
	}
	if s.world.Name != modelScenario {
		notes = append(notes, "what happened was not the model: "+s.world.About)
	}
	if s.world.Sourceless() {
		notes = append(notes, "without a source nothing that is named is right, and no set covers one")
	}
	if s.opts.Recover.Sources > 1 {
		notes = append(notes, "every trial has one source, and the posterior supposes one")
	}
	if s.part.Count == 1 {
		notes = append(notes, "there is a single community, so there is nothing to tell apart")
	}
	return notes
}

// draw returns source and amplitude of so many trials.
func (s *evaluator) draw(trials int) (sources []int, amplitudes []float64) {
	sources, amplitudes = make([]int, trials), make([]float64, trials)
	cumulative := floats.CumSum(make([]float64, s.model.Graph.Order()), s.prior)
	last := len(cumulative) - 1
	for t := range sources {
		random := rand.New(rand.NewPCG(s.opts.Seed, uint64(t)))
		at := random.Float64() * cumulative[last]
		sources[t] = sort.Search(last, func(i int) bool { return cumulative[i] > at })
		if s.opts.Sources != nil {
			sources[t] = s.opts.Sources[t%len(s.opts.Sources)]
		}
		if amplitudes[t] = s.opts.Amplitude; amplitudes[t] == 0 {
			amplitudes[t] = random.Float64()
		}
	}
	return sources, amplitudes
}

// faultWork bounds nodes times sensors where a trial supposes broken sensors without being
// asked to: it takes seconds beyond.
const faultWork = 250_000

// faults reports whether the posterior of a trial supposes broken sensors, as that of a
// release of measured readings does; never where plans are compared on common noise.
func (s *evaluator) faults(p *privacy.Plan) bool {
	if rate := s.opts.Recover.FaultRate; rate != nil || s.commonNoise {
		return rate != nil && *rate > 0 && !s.commonNoise
	}
	return p.Measured() && s.model.Graph.Order()*len(p.Sensors) <= faultWork
}
