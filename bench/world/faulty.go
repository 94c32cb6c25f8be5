// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/analyst"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// faultyStudy breaks sensors.
func faultyStudy() experiment {
	return experiment{
		name: "faulty", about: "accuracy, calibration and coverage where sensors are broken or lie", trials: 1000,
		run: runFaulty,
	}
}

// faultTau is the diffusion time of the study, and faultShares the shares of the reporting sensors
// that are broken, rounded up.
const faultTau = 2

func faultShares() []float64 { return []float64{.01, .02, .05, .1} }

// fault breaks sensors. reading gives that of a broken one, in units of the noise and, where liars aim, without chance: y is what a
// sound one would read, decoy what a source of amplitude 1 at another node would make it
// read, and high the upper end of the clipped range, from 0.
type fault struct {
	name    string
	aim     aim
	far     bool // most broken readings are more than 3σ from the sound ones
	reading func(r *rand.Rand, y, decoy, high float64) float64
	law     logLaw // of what a sensor anywhere publishes by that
}

// aim says which sensors are broken.
type aim int

const (
	anywhere aim = iota
	atDecoy      // those that the decoy moves most
	atSource     // those that the source moves most
)

func faults() []fault {
	clip := func(x, high float64) float64 { return min(max(x, 0), high) }
	zero := func(*rand.Rand, float64, float64, float64) float64 { return 0 }
	return []fault{
		{
			"stuck anywhere", anywhere, true, func(r *rand.Rand, _, _, high float64) float64 { return r.Float64() * high },
			func(y, _, high float64) float64 { return logBetween(y, 0, high) },
		},
		{
			"stuck at 1", anywhere, true, func(_ *rand.Rand, _, _, high float64) float64 { return high },
			func(y, _, high float64) float64 { return logAt(y, high) },
		},
		{
			"drifting by up to ±.3", anywhere, false,
			func(r *rand.Rand, y, _, high float64) float64 { return clip(y+.3*high*(2*r.Float64()-1), high) },
			func(y, x, high float64) float64 { return logDrift(y, x, .3*high, high) },
		},
		{"silent: zero", anywhere, false, zero, func(y, _, _ float64) float64 { return logAt(y, 0) }},
		{"zero, where a source is heard most", atSource, false, zero, nil},
		{
			"3.5σ off, either way", anywhere, true,
			func(r *rand.Rand, y, _, high float64) float64 { return clip(y+3.5*float64(1-2*r.IntN(2)), high) },
			func(y, x, high float64) float64 {
				return floats.LogSumExp([]float64{logAt(y, clip(x+3.5, high)), logAt(y, clip(x-3.5, high))}) - math.Ln2
			},
		},
		{
			"6σ too high", anywhere, true, func(_ *rand.Rand, y, _, high float64) float64 { return clip(y+6, high) },
			func(y, x, high float64) float64 { return logAt(y, clip(x+6, high)) },
		},
		{"what a decoy would be", atDecoy, false, func(_ *rand.Rand, _, decoy, _ float64) float64 { return decoy }, nil},
		{
			"a decoy, at least 3.5σ off", atDecoy, true,
			func(_ *rand.Rand, y, decoy, high float64) float64 { return clip(max(decoy, y+3.5), high) }, nil,
		},
		{
			"a decoy, within 3σ", atDecoy, false,
			func(_ *rand.Rand, y, decoy, high float64) float64 { return clip(min(max(decoy, y-3), y+3), high) }, nil,
		},
	}
}

// chosenFaults are those of sensors anywhere ("random"), those that are aimed, or all (""), beside the row without faults, which
// stands alone for "none".
func chosenFaults(which string) ([]fault, error) {
	if which != "" && which != "random" && which != "aimed" && which != "none" {
		return nil, fmt.Errorf("the faults are %q, want random, aimed or none", which)
	}
	if which == "none" {
		return nil, nil
	}
	return slices.DeleteFunc(faults(), func(f fault) bool {
		return which == "random" && f.aim != anywhere || which == "aimed" && f.aim == anywhere
	}), nil
}

func runFaulty(ctx context.Context, s settings) ([]table, error) {
	kinds, err := chosenFaults(s.faults)
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, name := range s.chosenGraphs("net3", "sbm,n=250,k=5,in=0.1,out=0.002,seed=1") {
		for _, optimal := range []bool{false, true} {
			err := instance.With(ctx, s.data, name, faultTau, func(m *graphcloak.Model) error {
				t, err := faultyTable(ctx, s, kinds, name, m, optimal)
				tables = append(tables, t)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return tables, nil
}

// faultBench is what all trials on one plan share.
type faultBench struct {
	a      measurement.Data
	column [][]float64 // of A, by node
	high   []float64   // upper end of the range of each sensor, in units of its noise; the lower is 0
	part   community.Partition
	seed   uint64
}

func faultyTable(ctx context.Context, s settings, kinds []fault, name string, m *graphcloak.Model, optimal bool) (table, error) {
	p, err := m.Plan(ctx, graphcloak.PlanOptions{
		Budget: privacy.Budget{Epsilon: 4, Delta: .1}, Alpha: 1, Measured: true,
		Clip: &privacy.Interval{Lo: 0, Hi: 1}, Allocation: graphcloak.Allocation{Optimal: optimal},
	})
	if err != nil {
		return table{}, err
	}
	b, err := newFaultBench(ctx, m, p, s.seed)
	if err != nil {
		return table{}, err
	}
	noise := "uniform noise"
	if optimal {
		noise = "allocated noise"
	}
	t := table{
		title: fmt.Sprintf("%s, τ = %v, ε = 4, δ = .1, %d communities, %d reporting sensors, %s.", name, faultTau, b.part.Count,
			len(b.high), noise),
		columns: []string{
			"fault", "broken", "right, trusting all", "its ECE", "right", "right, told which",
			"right at best", "loss", "loss a sensor", "ECE", "coverage of 95 % set", "suspects that are broken",
			"broken ones found", "missed",
		},
	}
	sound, err := b.trials(ctx, s.trials, fault{}, 0)
	if err != nil {
		return t, err
	}
	t.rows = append(t.rows, sound.row(fault{name: "none"}, 0, sound))
	for _, f := range kinds {
		for _, k := range b.numbers() {
			out, err := b.trials(ctx, s.trials, f, k)
			if err != nil {
				return t, err
			}
			t.rows = append(t.rows, out.row(f, k, sound))
			log.Printf("%s, %s: %v", name, noise, t.rows[len(t.rows)-1])
		}
	}
	return t, nil
}

// numbers are those of the broken sensors.
func (b *faultBench) numbers() (list []int) {
	for _, share := range faultShares() {
		list = append(list, int(math.Ceil(share*float64(len(b.high)))))
	}
	return slices.Compact(list)
}

func newFaultBench(ctx context.Context, m *graphcloak.Model, p *graphcloak.Plan, seed uint64) (*faultBench, error) {
	in := analyst.Measurements{}
	b := &faultBench{seed: seed}
	for _, x := range p.Sensors {
		in.Nodes, in.Sigmas, in.Values = append(in.Nodes, x.Node), append(in.Sigmas, x.Sigma()), append(in.Values, 0)
		b.high = append(b.high, 1/x.Sigma())
	}
	w, err := m.Operator.Whiten(ctx, in)
	if err != nil {
		return nil, err
	}
	b.a = w.Data
	n, k := m.Graph.Order(), len(b.high)
	all, nodes := make([]float64, n*k), make([]int, n)
	for i := range nodes {
		nodes[i] = i
	}
	linop.ColumnsTo(b.a.A, all, nodes)
	for i := range n {
		b.column = append(b.column, all[i*k:(i+1)*k])
	}
	b.part, err = m.Partition(ctx)
	return b, err
}

// faultOutcome is what became of the trials of one cell, with and without faults in the likelihood.
type faultOutcome struct {
	robust, trusting, told, best      *study.Performance
	suspected, suspectedBroken, found int
	broken                            int
}

func (b *faultBench) trials(ctx context.Context, trials int, f fault, k int) (*faultOutcome, error) {
	robust, trusting, told, best := make([]simulate.Trial, trials), make([]simulate.Trial, trials), make([]simulate.Trial, trials),
		make([]simulate.Trial, trials)
	aimed := b.aimedAttack(f, k)
	out := new(faultOutcome)
	counts := make([]faultOutcome, trials)
	errs := make([]error, trials)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for t := int(next.Add(1)) - 1; t < trials; t = int(next.Add(1)) - 1 {
				errs[t] = b.trial(ctx, t, f, k, aimed, [4]*simulate.Trial{&robust[t], &trusting[t], &told[t], &best[t]}, &counts[t])
			}
		})
	}
	wait.Wait()
	for t, err := range errs {
		if err != nil {
			return nil, err
		}
		c := counts[t]
		out.suspected, out.suspectedBroken, out.found, out.broken = out.suspected+c.suspected, out.suspectedBroken+c.suspectedBroken,
			out.found+c.found, out.broken+k
	}
	var err error
	if out.robust, err = study.Summarize(robust, b.seed); err != nil {
		return nil, err
	}
	if out.trusting, err = study.Summarize(trusting, b.seed); err != nil {
		return nil, err
	}
	if out.told, err = study.Summarize(told, b.seed); err != nil {
		return nil, err
	}
	out.best, err = study.Summarize(best, b.seed)
	return out, err
}

// trial simulates one source of amplitude 1, which the posterior knows, and k broken sensors. It scores the posterior with
// faults, the one that trusts all sensors, the one that is told which are broken, and the best there is.
func (b *faultBench) trial(ctx context.Context, number int, f fault, k int, aimed *aimedAttack, scores [4]*simulate.Trial,
	c *faultOutcome,
) error {
	r := rand.New(rand.NewPCG(b.seed, uint64(number)))
	n, m := len(b.column), len(b.high)
	source, decoy := r.IntN(n), r.IntN(n)
	noise := make([]float64, m)
	for s := range noise {
		noise[s] = r.NormFloat64()
	}
	readings, broken := slices.Clone(b.column[source]), r.Perm(m)[:k]
	if aimed != nil {
		broken = aimed.liars(source, decoy)
	}
	for _, s := range broken {
		readings[s] = f.reading(r, readings[s], b.column[decoy][s], b.high[s])
	}
	d := measurement.Data{A: b.a.A, Y: floats.AddTo(make([]float64, m), readings, noise)}
	opts := posterior.Options{Amplitude: posterior.UnitAmplitude}
	p, err := posterior.New(ctx, d, opts)
	if err != nil {
		return err
	}
	b.score(scores[1], p, source)
	opts.Faults = posterior.Faults{Rate: analyst.DefaultFaultRate, Low: make([]float64, m), High: b.high}
	if p, err = posterior.New(ctx, d, opts); err != nil {
		return err
	}
	b.score(scores[0], p, source)
	told, err := b.told(ctx, d.Y, broken)
	if err != nil {
		return err
	}
	b.score(scores[2], told, source)
	best := told
	if k > 0 {
		if best, err = b.atBest(ctx, d.Y, f, k, aimed); err != nil {
			return err
		}
	}
	b.score(scores[3], best, source)
	for s, q := range p.Faulty {
		if q > .5 {
			c.suspected++
			if slices.Contains(broken, s) {
				c.suspectedBroken++
				c.found++
			}
		}
	}
	return nil
}

func (b *faultBench) score(t *simulate.Trial, p *posterior.Posterior, source int) {
	rank := community.Rank(p.Probability, b.part)
	t.Source, t.Confidence, t.Right = source, min(1, rank[0].Probability), rank[0].Community == b.part.Labels[source]
	credible := p.Credible()
	t.Covered, t.CredibleSetSize = slices.Contains(credible, source), len(credible)
}

// Goals of the study: the largest loss of a broken sensor whose readings are far off, and of supposing faults
// where there are none; the largest calibration error; and the least coverage.
const (
	goalLoss     = .02
	goalNoFault  = .005
	goalECE      = .05
	goalCoverage = .93
)

// missed lists the goals that a row misses.
func (o *faultOutcome) missed(f fault, k int, loss float64) string {
	var list []string
	if k == 0 && loss > goalNoFault || f.far && loss > goalLoss*float64(k) {
		list = append(list, "loss")
	}
	if o.robust.Calibration.Error > goalECE {
		list = append(list, "ECE")
	}
	if o.robust.Coverage.Rate < goalCoverage {
		list = append(list, "coverage")
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

func (o *faultOutcome) row(f fault, k int, sound *faultOutcome) []string {
	share := func(a, b int) string {
		if b == 0 {
			return "–"
		}
		return rate(float64(a) / float64(b))
	}
	loss := sound.robust.Right.Rate - o.robust.Right.Rate
	each := "–"
	if k > 0 {
		each = fmt.Sprintf("%.4f", loss/float64(k))
	}
	if k == 0 {
		loss = o.trusting.Right.Rate - o.robust.Right.Rate
	}
	return []string{
		f.name, fmt.Sprint(k), fmt.Sprintf("%.3f", o.trusting.Right.Rate), fmt.Sprintf("%.3f", o.trusting.Calibration.Error),
		fmt.Sprintf("%.3f", o.robust.Right.Rate), fmt.Sprintf("%.3f", o.told.Right.Rate), fmt.Sprintf("%.3f", o.best.Right.Rate),
		fmt.Sprintf("%.3f", loss), each, fmt.Sprintf("%.3f", o.robust.Calibration.Error),
		fmt.Sprintf("%.3f", o.robust.Coverage.Rate), share(o.suspectedBroken, o.suspected), share(o.found, o.broken), o.missed(f, k, loss),
	}
}
