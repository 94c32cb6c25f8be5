// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// budget is the one of the graph figure.
var budget = privacy.Budget{Epsilon: 4, Delta: .1}

// blocks is a family of stochastic block models of 500 nodes.
type blocks struct {
	name        string
	communities int
	in, out     float64
	taus        []float64
}

var blockModels = []blocks{
	{"as printed", 2, .001, .05, []float64{2}},
	{"as meant", 2, .05, .001, []float64{.1, .5, 1, 2, 4}},
	{"5 communities", 5, .1, .002, []float64{.1, .5, 1, 2, 4}},
	{"10 communities", 10, .2, .004, []float64{.1, .5, 1, 2, 4}},
}

// sample is the largest component of one graph, with its blocks and eigenpairs.
type sample struct {
	g        *graph.Graph
	block    []int
	spectrum *expm.Spectrum
	vectors  *mat.Dense // column k is v_k
}

func (b blocks) sample(ctx context.Context, seed uint64) (*sample, error) {
	g, block, err := graph.SBM(500, b.communities, b.in, b.out, seed)
	if err != nil {
		return nil, err
	}
	s := &sample{}
	if s.g, s.block, err = largest(g, block); err != nil {
		return nil, err
	}
	if s.spectrum, err = expm.Decompose(ctx, laplacian.New(s.g, laplacian.Combinatorial), nil); err != nil {
		return nil, err
	}
	s.vectors = mat.DenseCopyOf(s.spectrum.Vectors().T())
	return s, nil
}

// largest returns the largest component with the blocks of its nodes.
func largest(g *graph.Graph, block []int) (*graph.Graph, []int, error) {
	of, sizes := g.Components()
	best := int32(slices.Index(sizes, slices.Max(sizes)))
	var b graph.Builder
	for e := range g.Edges() {
		if of[e.U] == best {
			if err := b.AddEdge(g.ID(e.U), g.ID(e.V), e.Weight); err != nil {
				return nil, nil, err
			}
		}
	}
	part, err := b.Graph()
	if err != nil {
		return nil, nil, err
	}
	labels := make([]int, part.Order())
	for k := range labels {
		i, _ := g.Index(part.ID(k))
		labels[k] = block[i]
	}
	return part, labels, nil
}

// heated is a sample at one τ.
type heated struct {
	*sample
	m     *mat.Dense
	decay []float64
	norms []float64 // ‖M_i‖²
	delta float64
}

func (s *sample) at(tau float64) *heated {
	h := &heated{sample: s, m: s.spectrum.Kernel(tau, 0), decay: s.spectrum.Decay(tau)}
	h.delta, _ = spectral(s.g, s.spectrum, tau)
	h.norms = make([]float64, s.g.Order())
	for i := range h.norms {
		n := mat.Norm(h.m.ColView(i), 2)
		h.norms[i] = n * n
	}
	return h
}

// noisy is a heated sample with a noise level.
type noisy struct {
	*heated
	sigma   float64
	norms   posterior.Norms
	visible *recovery.Spectrum
}

func (h *heated) with(c privacy.Calibration) (*noisy, error) {
	sigma, err := c.Sigma(budget, h.delta)
	if err != nil {
		return nil, err
	}
	n := &noisy{heated: h, sigma: sigma, norms: posterior.Norms{N: make([]float64, len(h.norms))}}
	values := make([]float64, len(h.decay))
	floats.ScaleTo(n.norms.N, 1/(sigma*sigma), h.norms)
	floats.ScaleTo(values, 1/sigma, h.decay)
	n.visible = &recovery.Spectrum{Values: values, Left: h.vectors}
	return n, nil
}

// verdict is the community that a method names, −1 where it names none.
type verdict struct {
	named  int
	status recovery.Status
}

// outcome of a trial: the truth, and a verdict for each method.
type outcome struct {
	truth    int
	verdicts []verdict
	groups   []float64
	nodes    []float64
	source   int
}

// methods are Basis Pursuit Denoising under the rules of figure 1, and the posterior.
func methods() []string {
	var names []string
	for _, r := range radiusRules(1) {
		names = append(names, "BPDN, "+r.name)
	}
	return append(names, "posterior")
}

// trial releases one source and recovers it by every method.
func (n *noisy) trial(ctx context.Context, rnd *rand.Rand) (outcome, error) {
	source := rnd.IntN(n.g.Order())
	y := mat.Col(nil, source, n.m)
	for i := range y {
		y[i] += n.sigma * rnd.NormFloat64()
	}
	o := outcome{truth: n.block[source], source: source}
	d, err := measurement.Whiten(linop.Dense{M: n.m}, y, measurement.Uniform(n.sigma, len(y)))
	if err != nil {
		return o, err
	}
	for _, rule := range radiusRules(len(y)) {
		res, err := rule.solve(ctx, d, n.visible)
		if err != nil && !errors.Is(err, recovery.ErrStalled) {
			return o, err
		}
		v := verdict{-1, res.Status}
		if err == nil && res.Status == recovery.Optimal && res.Objective > 0 {
			v.named = heaviest(res.F, n.block)
		}
		o.verdicts = append(o.verdicts, v)
	}
	p, err := posterior.New(ctx, d, posterior.Options{Norms: &n.norms})
	if err != nil {
		return o, err
	}
	if o.groups, err = p.Groups(n.block); err != nil {
		return o, err
	}
	o.nodes = p.Probability
	o.verdicts = append(o.verdicts, verdict{floats.MaxIdx(o.groups), recovery.Optimal})
	return o, nil
}

// heaviest returns the block that holds most of f.
func heaviest(f []float64, block []int) int {
	mass := make([]float64, slices.Max(block)+1)
	for i, v := range f {
		mass[block[i]] += v
	}
	return floats.MaxIdx(mass)
}

// cell is one line of the table: a model, a τ and a calibration.
type cell struct {
	model       blocks
	tau         float64
	calibration privacy.Calibration
	trials      []outcome
}

// figureGraph repeats the paper's graph figure over graphs, sources, calibrations and
// times, and draws one trial.
func figureGraph(ctx context.Context, r *runner) error {
	graphs, models := 10, blockModels
	if r.Quick {
		graphs, models = 5, blockModels[:3]
	}
	each := max(1, r.trials(100)/graphs)
	if r.Quick && r.Options.Trials == 0 {
		each = 8
	}
	var cells []*cell
	for _, model := range models {
		for _, tau := range model.taus {
			if r.Quick && tau != 2 {
				continue
			}
			for _, c := range []privacy.Calibration{privacy.Analytic{}, privacy.Classical{}, privacy.Paper{}} {
				cells = append(cells, &cell{model: model, tau: tau, calibration: c, trials: make([]outcome, graphs*each)})
			}
		}
	}
	var mu sync.Mutex
	var shown *picture
	err := r.each(ctx, "graphs", graphs*len(models), func(ctx context.Context, k int) error {
		model, g := models[k/graphs], k%graphs
		s, err := model.sample(ctx, r.random(model.name, g).Uint64())
		if err != nil {
			return err
		}
		p, err := r.onGraph(ctx, s, model, g, each, cells)
		if p != nil {
			mu.Lock()
			shown = p
			mu.Unlock()
		}
		return err
	})
	if err != nil {
		return err
	}
	r.cellsTable(cells)
	r.figureGraphClaims(cells)
	if err := r.cellsPlot(cells); err != nil {
		return err
	}
	return r.graphPlot(shown)
}

// picture is the trial that is drawn.
type picture struct {
	*noisy
	outcome
}

// onGraph runs the trials of one graph in every cell of its model.
func (r *runner) onGraph(ctx context.Context, s *sample, model blocks, g, each int, cells []*cell) (shown *picture, err error) {
	var h *heated
	at := math.NaN()
	for i, c := range cells {
		if c.model.name != model.name {
			continue
		}
		if c.tau != at {
			h, at = s.at(c.tau), c.tau
		}
		n, err := h.with(c.calibration)
		if err != nil {
			return nil, err
		}
		for k := range each {
			o, err := n.trial(ctx, r.random(fmt.Sprintf("%s %d", model.name, i), g*each+k))
			if err != nil {
				return nil, err
			}
			if g == 0 && k == 0 && model.name == "as meant" && c.tau == 2 && c.calibration == (privacy.Analytic{}) {
				shown = &picture{n, o}
			}
			o.nodes = nil
			c.trials[g*each+k] = o
		}
	}
	return shown, nil
}

// score counts what a method did in a cell.
func (c *cell) score(method int) (answered, right, infeasible, zero int) {
	for _, o := range c.trials {
		v := o.verdicts[method]
		switch {
		case v.named >= 0:
			answered++
			if v.named == o.truth {
				right++
			}
		case v.status == recovery.Infeasible:
			infeasible++
		case v.status == recovery.Zero:
			zero++
		}
	}
	return answered, right, infeasible, zero
}

func (r *runner) cellsTable(cells []*cell) {
	t := r.table("figure-graph", "Which community holds the source, ε = 4, δ = 0.1, equal noise: right over all trials, with its 95 "+
		"% interval (Wilson)",
		"graph,in,out,tau,calibration,method,trials,answered,infeasible,zero,right,rate,lower,upper")
	for _, c := range cells {
		for i, m := range methods() {
			answered, right, infeasible, zero := c.score(i)
			n := len(c.trials)
			lo, hi := wilson(right, n)
			t.add(c.model.name, c.model.in, c.model.out, c.tau, c.calibration.String(), m, n, answered, infeasible, zero, right,
				float64(right)/float64(n), lo, hi)
		}
	}
}

// find returns the cell of a model at τ = 2.
func find(cells []*cell, model string, calibration privacy.Calibration) *cell {
	i := slices.IndexFunc(cells, func(c *cell) bool {
		return c.model.name == model && c.tau == 2 && c.calibration == calibration
	})
	return cells[i]
}

func (r *runner) figureGraphClaims(cells []*cell) {
	posterior := len(methods()) - 1
	printed, meant := find(cells, "as printed", privacy.Analytic{}), find(cells, "as meant", privacy.Analytic{})
	_, p, _, _ := printed.score(posterior)
	_, q, _, _ := meant.score(posterior)
	n := len(printed.trials)
	plo, phi := wilson(p, n)
	qlo, qhi := wilson(q, n)
	r.claim("graph-caption", plo > .5, qlo > .5,
		"the posterior names the community of the source in %d of %d trials as printed (%.2f to %.2f; chance is 0.5), in %d as "+
			"meant (%.2f to %.2f)", p, n, plo, phi, q, qlo, qhi)
	_, right, infeasible, zero := find(cells, "as meant", privacy.Paper{}).score(0)
	_, better, _, _ := find(cells, "as meant", privacy.Paper{}).score(posterior)
	r.claim("graph-recovered", 2*right > n, infeasible+zero > n/2 && better > right,
		"of %d trials %d infeasible, %d zero, %d right; posterior right in %d", n, infeasible, zero, right, better)
	r.say("Stochastic block models of 500 nodes, their largest component, a unit source at a random node, sensors at every node with " +
		"equal noise. The rate counts a trial without an answer as wrong. “auto” is the default radius.")
}

// cellsPlot draws the rate over τ for the methods, by model, with the exact
// calibration.
func (r *runner) cellsPlot(cells []*cell) error {
	if r.Quick {
		return nil // one τ makes no curve
	}
	var panels []panel
	for _, model := range blockModels[1:] {
		p := panel{title: model.name, x: "τ", y: "right", top: 1.4} // room for the legend
		for i, m := range methods() {
			c := curve{name: m, points: true}
			for _, x := range cells {
				if x.model.name == model.name && x.calibration == (privacy.Analytic{}) {
					_, right, _, _ := x.score(i)
					c.x, c.y = append(c.x, x.tau), append(c.y, float64(right)/float64(len(x.trials)))
				}
			}
			p.curves = append(p.curves, c)
		}
		panels = append(panels, p)
	}
	return r.plot("figure-graph-tau", "Rate of right answers over τ with the exact calibration; a trial without an answer counts as wrong.",
		panels...)
}

// sunflower places node k of n in a disc of radius √n at golden angles.
func sunflower(k int) (x, y float64) {
	angle := float64(k) * math.Pi * (3 - math.Sqrt(5))
	return math.Sqrt(float64(k)) * math.Cos(angle), math.Sqrt(float64(k)) * math.Sin(angle)
}

// graphPlot draws the communities as discs, nodes coloured by their posterior.
func (r *runner) graphPlot(s *picture) error {
	n := s.g.Order()
	at := make(plotter.XYs, n)
	seen := map[int]int{}
	for i := range n {
		b := s.block[i]
		x, y := sunflower(seen[b])
		seen[b]++
		at[i].X, at[i].Y = x+float64(b)*40, y
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("posterior: %.3f left, %.3f right; the source is the ring", s.groups[0], s.groups[1])
	p.BackgroundColor = color.White
	p.HideAxes()
	for e := range s.g.Edges() {
		l, err := plotter.NewLine(plotter.XYs{at[e.U], at[e.V]})
		if err != nil {
			return err
		}
		l.Color, l.Width = pale, vg.Points(.2)
		p.Add(l)
	}
	nodes, err := plotter.NewScatter(at)
	if err != nil {
		return err
	}
	top := floats.Max(s.nodes)
	nodes.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: heat(s.nodes[i] / top), Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
	}
	ring, err := plotter.NewScatter(at[s.source : s.source+1])
	if err != nil {
		return err
	}
	ring.GlyphStyle = draw.GlyphStyle{Color: color.Black, Radius: vg.Points(5), Shape: draw.RingGlyph{}}
	p.Add(nodes, ring)
	r.Plots = append(r.Plots, Plot{
		Name: "figure-graph", Caption: "A block model as the caption means it, τ = 2, ε = 4, δ = 0.1, the first trial: nodes coloured " +
			"by their posterior probability of being the source.",
		Panels: []*plot.Plot{p},
	})
	return nil
}

// heat runs from pale yellow to dark red, by lightness too.
func heat(x float64) color.Color {
	mix := func(a, b float64) uint8 { return uint8(math.Round(a + (b-a)*math.Sqrt(x))) }
	return color.NRGBA{mix(0xf4, 0x8c), mix(0xe8, 0x0a), mix(0xc0, 0x1e), 0xff}
}
