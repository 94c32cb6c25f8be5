// SPDX-License-Identifier: Apache-2.0

// Command allocation measures how often the posterior names the right community
// under equal and under allocated noise, and writes the rows of the tables in
// docs/explanation/allocation.md:
//
//	go run ./bench/allocation karate net3 sbm2 sbm5 sbm10 unequal minnesota net6
//
// A single source of amplitude 1 stands at a random node, each as likely; noise is normal
// with the σ of the real plan; the posterior is the product's default. Every cell
// sees the same sources. Seeds are fixed, so that a row can be reproduced.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/allocation"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/linop"
	"github.com/graphcloak/graphcloak/measurement"
	"github.com/graphcloak/graphcloak/posterior"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/sensitivity"
)

var (
	data         = flag.String("data", "examples/data", "folder of the graphs")
	trials       = flag.Int("trials", 1000, "trials for each cell")
	taus         = flag.String("tau", "1,2,4,16", "diffusion times")
	epsilon      = flag.Float64("epsilon", 4, "ε")
	delta        = flag.Float64("delta", .1, "δ")
	objectives   = flag.String("objectives", "uniform,auto", "allocations to compare: uniform and the names of --objective")
	calibrations = flag.String("calibration", "analytic,classical,paper", "calibrations")
	unit         = flag.Bool("unit", false, "the posterior knows the amplitude")
	limit        = flag.Duration("time", 0, "time after which an allocation is taken as it is; 0: none, and the same bits everywhere")
	skew         = flag.Float64("skew", 0, "sources are drawn with probability proportional to this power of the degree, a prior that the posterior knows; with +prior after its name, an objective knows it too")
)

func main() {
	flag.Parse()
	if err := run(context.Background(), flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, names []string) error {
	columns := strings.Split(*objectives, ",")
	fmt.Println("| graph | τ | calibration |", strings.Join(columns, " | "), "|")
	fmt.Println("|---|---|---|" + strings.Repeat("---|", len(columns)))
	for _, name := range names {
		g, labels, err := load(ctx, name)
		if err != nil {
			return err
		}
		part, err := community.FromLabels(g, labels)
		if err != nil {
			return err
		}
		l := laplacian.New(g, laplacian.Combinatorial)
		base, err := expm.New(ctx, l, 1, expm.Options{})
		if err != nil {
			return err
		}
		for text := range strings.SplitSeq(*taus, ",") {
			tau, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			d, err := base.WithTau(tau)
			if err != nil {
				return err
			}
			s := study{sensitivity.Model{Graph: g, Laplacian: l, Diffusion: d, Tau: tau, Alpha: 1}, d, part, make([]float64, g.Order())}
			for i, degree := range l.Degrees() {
				s.prior[i] = math.Pow(degree, *skew)
			}
			for calibration := range strings.SplitSeq(*calibrations, ",") {
				fmt.Printf("| %s (%d nodes, %d communities) | %v | %s |", name, g.Order(), part.Count, tau, calibration)
				for _, objective := range columns {
					text, err := s.cell(ctx, calibration, objective)
					if err != nil {
						return err
					}
					fmt.Print(" ", text, " |")
				}
				fmt.Println()
			}
		}
	}
	return nil
}

// study is one graph at one τ.
type study struct {
	sensitivity.Model
	diffusion *expm.Diffusion
	part      community.Partition
	prior     []float64
}

// cell returns the accuracy, its interval and the number of sensors that report.
func (s study) cell(ctx context.Context, calibration, objective string) (string, error) {
	start := time.Now()
	c, err := privacy.ParseCalibration(calibration)
	if err != nil {
		return "", err
	}
	u, err := s.weights(ctx, c, objective)
	if err != nil {
		return "", err
	}
	plan, err := s.plan(ctx, c, u)
	if err != nil {
		return "", err
	}
	seconds := time.Since(start).Seconds()
	right, err := s.simulate(ctx, plan)
	if err != nil {
		return "", err
	}
	log.Printf("τ = %v, %s, %s: %.1f s", s.Tau, calibration, objective, seconds)
	p, lo, hi := wilson(right, *trials)
	return fmt.Sprintf("%s (%s – %s) %d", share(p), share(lo), share(hi), len(plan.Sensors)), nil
}

// share writes a proportion without its leading zero.
func share(p float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0") }

// weights returns nil for uniform noise.
func (s study) weights(ctx context.Context, c privacy.Calibration, objective string) ([]float64, error) {
	if objective == "uniform" {
		return nil, nil
	}
	name, knows := strings.CutSuffix(objective, "+prior")
	o, err := allocation.ParseObjective(name)
	if err != nil {
		return nil, err
	}
	noise, err := c.Sigma(privacy.Budget{Epsilon: *epsilon, Delta: *delta}, 1)
	if err != nil {
		return nil, err
	}
	opts := allocation.Options{Objective: o, Noise: noise, Time: *limit}
	if knows {
		opts.Prior = s.prior
	}
	r, err := allocation.Optimize(ctx, s.Model, s.diffusion, s.part.Labels, opts)
	if err != nil {
		return nil, err
	}
	return r.Weights, nil
}

// plan makes the real plan, lattice included.
func (s study) plan(ctx context.Context, c privacy.Calibration, u []float64) (*privacy.Plan, error) {
	bracket, err := sensitivity.Bound(ctx, s.Model, u, sensitivity.Options{Seed: [32]byte{1}})
	if err != nil {
		return nil, err
	}
	g := s.Graph
	spec := privacy.Spec{
		Public:      privacy.Public{GraphDigest: g.Digest(), NodeCount: g.Order(), RelationshipCount: g.Size(), ComponentCount: 1, Tau: s.Tau, Laplacian: "combinatorial", Metric: "hops", Alpha: 1},
		Budget:      privacy.Budget{Epsilon: *epsilon, Delta: *delta},
		Calibration: c,
		Weights:     u,
		Sensitivity: privacy.Sensitivity{Lower: bracket.Lower, Upper: bracket.Upper, Edge: [2]graph.ID{g.ID(bracket.Edge[0]), g.ID(bracket.Edge[1])}},
	}
	for i := range g.Order() {
		spec.Sensors = append(spec.Sensors, privacy.Sensor{Node: i, ID: g.ID(i)})
	}
	return privacy.NewPlan(spec)
}

// simulate counts the trials in which the likeliest community is the right one.
func (s study) simulate(ctx context.Context, plan *privacy.Plan) (int, error) {
	var nodes []int
	var u []float64
	for _, x := range plan.Sensors {
		nodes, u = append(nodes, x.Node), append(u, 1/(x.Sigma()*x.Sigma()))
	}
	total := floats.CumSum(make([]float64, len(s.prior)), s.prior)
	rows, err := s.diffusion.Rows(ctx, nodes)
	if err != nil {
		return 0, err
	}
	amplitude := posterior.UniformAmplitude
	if *unit {
		amplitude = posterior.UnitAmplitude
	}
	silent, err := measurement.Whiten(linop.Dense{M: rows}, make([]float64, len(nodes)), u)
	if err != nil {
		return 0, err
	}
	norms, err := posterior.ColumnNorms(ctx, silent, posterior.Options{})
	if err != nil {
		return 0, err
	}
	y, sources := mat.NewDense(*trials, len(nodes), nil), make([]int, *trials)
	for trial := range sources {
		random := rand.New(rand.NewPCG(7, uint64(trial)))
		source := random.IntN(len(total))
		if *skew != 0 {
			source = sort.SearchFloat64s(total, random.Float64()*total[len(total)-1])
		}
		row := y.RawRowView(trial)
		mat.Col(row, source, rows)
		for k := range row {
			row[k] = u[k] * (row[k] + random.NormFloat64()/math.Sqrt(u[k]))
		}
		sources[trial] = source
	}
	var c mat.Dense // Mᵀ diag(u) ỹ of all trials
	c.Mul(y, rows)
	right := 0
	for trial, source := range sources {
		post, err := posterior.New(ctx, measurement.Data{A: product(c.RawRowView(trial))}, posterior.Options{Norms: &norms, Amplitude: amplitude, Prior: s.prior})
		if err != nil {
			return 0, err
		}
		if community.Rank(post.Probability, s.part)[0].Community == s.part.Labels[source] {
			right++
		}
	}
	return right, nil
}

// product is an operator A for one right-hand side, whose Aᵀy is known.
type product []float64

func (c product) Dims() (rows, columns int) { return 0, len(c) }

func (c product) MulVecTo(dst []float64, _ bool, _ []float64) { copy(dst, c) }

// wilson returns a proportion with its 95 % score interval (Wilson 1927).
func wilson(k, n int) (p, lo, hi float64) {
	const z = 1.959963984540054
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return p, middle - half, middle + half
}

// load returns a graph with communities: sbmK is a block model of 500 nodes with K
// blocks, 5 % inside and 0.1 % across, its largest component; unequal is the same
// with blocks of 240, 120, 80 and 60 nodes; any other name is a folder, whose
// communities Leiden finds.
func load(ctx context.Context, name string) (*graph.Graph, []int, error) {
	if name == "unequal" {
		g, labels, err := blocks([]int{240, 120, 80, 60}, .05, .001)
		if err != nil {
			return nil, nil, err
		}
		return largest(g, labels)
	}
	if k, ok := strings.CutPrefix(name, "sbm"); ok {
		count, err := strconv.Atoi(k)
		if err != nil {
			return nil, nil, err
		}
		g, labels, err := graph.SBM(500, count, .05, .001, uint64(count))
		if err != nil {
			return nil, nil, err
		}
		return largest(g, labels)
	}
	g, err := read(filepath.Join(*data, name, "relationships.csv"))
	if err != nil {
		return nil, nil, err
	}
	part, err := community.Leiden{}.Detect(ctx, g)
	return g, part.Labels, err
}

// blocks returns a stochastic block model with blocks of the given orders.
func blocks(orders []int, in, out float64) (*graph.Graph, []int, error) {
	var b graph.Builder
	var labels []int
	random := rand.New(rand.NewPCG(1, 1))
	for c, order := range orders {
		for range order {
			v, err := b.AddNode(graph.ID(strconv.Itoa(len(labels))))
			if err != nil {
				return nil, nil, err
			}
			labels = append(labels, c)
			for u, other := range labels[:len(labels)-1] {
				p := out
				if other == c {
					p = in
				}
				if random.Float64() < p {
					if err := b.AddEdge(graph.ID(strconv.Itoa(u)), graph.ID(strconv.Itoa(int(v))), 1); err != nil {
						return nil, nil, err
					}
				}
			}
		}
	}
	g, err := b.Graph()
	return g, labels, err
}

// read builds the graph of a CSV file with the columns source and target,
// unweighted, in hops.
func read(file string) (*graph.Graph, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	from, to := slices.Index(lines[0], "source"), slices.Index(lines[0], "target")
	b := graph.Builder{Aggregation: graph.Single}
	for _, line := range lines[1:] {
		for _, id := range []string{line[from], line[to]} {
			if _, ok := b.Handle(graph.ID(id)); !ok {
				if _, err := b.AddNode(graph.ID(id)); err != nil {
					return nil, err
				}
			}
		}
		if err := b.AddEdge(graph.ID(line[from]), graph.ID(line[to]), 1); err != nil {
			return nil, err
		}
	}
	return b.Graph()
}

// largest returns the largest component with its labels.
func largest(g *graph.Graph, labels []int) (*graph.Graph, []int, error) {
	component, sizes := g.Components()
	top := slices.Index(sizes, slices.Max(sizes))
	var b graph.Builder
	for i, c := range component {
		if int(c) == top {
			if _, err := b.AddNode(g.ID(i)); err != nil {
				return nil, nil, err
			}
		}
	}
	for e := range g.Edges() {
		if int(component[e.U]) == top {
			if err := b.AddEdge(g.ID(e.U), g.ID(e.V), e.Weight); err != nil {
				return nil, nil, err
			}
		}
	}
	h, err := b.Graph()
	if err != nil {
		return nil, nil, err
	}
	out := make([]int, h.Order())
	for i := range out {
		old, _ := g.Index(h.ID(i))
		out[i] = labels[old]
	}
	return h, out, nil
}
