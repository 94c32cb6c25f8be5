// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/bench/internal/instance"
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/recovery/whisper"
)

// whisperStudy asks who started rumours that an independent program simulates.
func whisperStudy() experiment {
	return experiment{
		name: "whisper", about: "accuracy and calibration of who started a rumour, from yes or no answers under randomized response",
		trials: 1000, run: runWhisper,
	}
}

//go:embed cascades.py
var cascadesScript string

// town is a graph with its communities.
type town struct {
	name   string
	graph  *graph.Graph
	labels []int
	sizes  [2][2]int // of small and large whispers
}

// rumours is what simulates rumours, and whom the analyst hears.
type rumours struct {
	name    string
	nature  string
	size    int     // 0: small, 1: large, 2: anything from small to large
	weights bool    // the true weights are up to 50 % off
	absent  float64 // share of the relationships that the analyst does not know
	silent  float64 // share of the people who do not answer
}

func allRumours() []rumours {
	return []rumours{
		{name: "SI, small", nature: "si"},
		{name: "SI, large", nature: "si", size: 1},
		{name: "IC", nature: "ic", size: 2},
		{name: "SIR", nature: "sir", size: 2},
		{name: "SI, weights ± 50 %", nature: "si", size: 2, weights: true},
		{name: "SI, 10 % missing", nature: "si", size: 2, absent: .1},
		{name: "SI, 30 % do not answer", nature: "si", size: 2, silent: .3},
	}
}

func runWhisper(ctx context.Context, s settings) ([]table, error) {
	t := table{columns: []string{
		"graph", "rumour", "have heard", "ε", "right", "best simple rule", "chance", "confidence", "ECE", "ECE of a calibrated one",
		"confident and wrong",
	}}
	unknown := table{
		title: "Rumours of a law and size that the model draws itself, by the simulator of the model, and answers without a rumour.",
		columns: []string{
			"graph", "ε", "have heard", "right", "confidence", "ECE", "confident and wrong", "95 % set holds it", "found at 5 %",
			"false alarms at 5 %",
		},
	}
	for _, name := range s.chosenGraphs("equal", "unequal", "caveman", "karate", "minnesota", "social") {
		town, err := openTown(ctx, s, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for k, r := range allRumours() {
			rows, err := whisperRows(ctx, s, town, r, s.seed+uint64(k))
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, r.name, err)
			}
			t.rows = append(t.rows, rows...)
			log.Printf("%s, %s", name, r.name)
		}
		rows, err := unknownRows(ctx, s, town)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		unknown.rows = append(unknown.rows, rows...)
	}
	return []table{t, unknown}, nil
}

// epsilons are those of the rows.
var epsilons = []float64{.5, 1, 2}

// unknownRows is a row for each ε, of what the model's own simulator draws.
func unknownRows(ctx context.Context, s settings, t town) (rows [][]string, err error) {
	for _, epsilon := range epsilons {
		m, err := whisper.New(t.graph, whisper.Options{Flip: 1 / (1 + math.Exp(epsilon)), Labels: t.labels})
		if err != nil {
			return nil, err
		}
		tempering, err := m.Temper(ctx, s.seed, 0)
		if err != nil {
			return nil, err
		}
		e, err := m.Evaluate(ctx, tempering, whisper.EvaluateOptions{Trials: s.trials, Seed: s.seed + 1000})
		if err != nil {
			return nil, err
		}
		rows = append(rows, []string{
			t.name, fmt.Sprint(epsilon), fmt.Sprintf("%.0f", e.Heard), rate(e.Right), rate(e.Confidence), rate(e.CalibrationError),
			fmt.Sprintf("%.3f", e.ConfidentAndWrong), rate(e.Covered), rate(e.Found), fmt.Sprintf("%.3f", e.FalseAlarms),
		})
	}
	return rows, nil
}

// blocks joins people of communities of the given sizes: each has about inside relationships within and outside across.
func blocks(sizes []int, inside, outside float64, seed uint64) ([]int, []graph.Edge) {
	random := rand.New(rand.NewPCG(seed, 0))
	var labels []int
	for c, k := range sizes {
		labels = append(labels, slices.Repeat([]int{c}, k)...)
	}
	var edges []graph.Edge
	for u := range labels {
		for v := range u {
			p := outside / float64(len(labels))
			if labels[u] == labels[v] {
				p = inside / float64(sizes[labels[u]])
			}
			if random.Float64() < p {
				edges = append(edges, graph.Edge{U: v, V: u, Weight: 1})
			}
		}
	}
	return labels, edges
}

// caveman joins everybody of circles, and then moves one end of each relationship with probability moved.
func caveman(circles, each int, moved float64, seed uint64) ([]int, []graph.Edge) {
	random := rand.New(rand.NewPCG(seed, 0))
	n := circles * each
	labels := make([]int, n)
	var edges []graph.Edge
	for u := range n {
		labels[u] = u / each
		for v := u + 1; v < n && v/each == u/each; v++ {
			to := v
			if random.Float64() < moved {
				to = random.IntN(n)
			}
			edges = append(edges, graph.Edge{U: u, V: to, Weight: 1})
		}
	}
	return labels, edges
}

// social is like a social network: communities of 40 to 400 people, degrees with a heavy tail, a fifth of the relationships across.
func social(n int, seed uint64) ([]int, []graph.Edge) {
	random := rand.New(rand.NewPCG(seed, 0))
	var labels []int
	var members [][]int
	for len(labels) < n {
		k := min(n-len(labels), int(40*math.Pow(10, random.Float64())))
		var these []int
		for range k {
			these = append(these, len(labels))
			labels = append(labels, len(members))
		}
		members = append(members, these)
	}
	stubs, within := []int{}, make([][]int, len(members))
	for u, c := range labels {
		degree := min(100, 5*math.Pow(random.Float64(), -1/1.5))
		for range int(degree * .5) {
			within[c] = append(within[c], u)
		}
		for range int(degree*.125 + random.Float64()) {
			stubs = append(stubs, u)
		}
	}
	var edges []graph.Edge
	for _, ends := range append(within, stubs) {
		for _, u := range ends {
			edges = append(edges, graph.Edge{U: u, V: ends[random.IntN(len(ends))], Weight: 1})
		}
	}
	return labels, edges
}

// build makes a graph whose nodes are their numbers.
func build(n int, edges []graph.Edge) (*graph.Graph, error) {
	b := graph.Builder{Aggregation: graph.Max}
	for i := range n {
		if _, err := b.AddNode(graph.ID(strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	for _, e := range edges {
		if err := b.Connect(e.U, e.V, e.Weight, 1); err != nil {
			return nil, err
		}
	}
	return b.Graph()
}

func openTown(ctx context.Context, s settings, name string) (town, error) {
	var edges []graph.Edge
	t := town{name: name}
	switch name {
	case "equal":
		t.labels, edges = blocks(slices.Repeat([]int{100}, 5), 8, 2, s.seed)
	case "unequal":
		t.labels, edges = blocks([]int{20, 40, 60, 80, 120}, 8, 2, s.seed)
	case "caveman":
		t.labels, edges = caveman(40, 15, .1, s.seed)
	case "social":
		t.labels, edges = social(5000, s.seed)
	default:
		err := instance.With(ctx, s.data, name, 1, func(m *graphcloak.Model) error {
			p, err := community.Leiden{}.Detect(ctx, m.Graph)
			t.graph, t.labels = m.Graph, p.Labels
			return err
		})
		t.setSizes()
		return t, err
	}
	var err error
	t.graph, err = build(len(t.labels), edges)
	t.setSizes()
	return t, err
}

// setSizes chooses about a twentieth of the people and a sixth, 20 and 200 at most.
func (t *town) setSizes() {
	n := float64(len(t.labels))
	small, large := max(3, min(20, int(.047*n))), max(6, min(200, int(.165*n)))
	t.sizes = [2][2]int{{small, small}, {large, large}}
}

// rumoursOf runs the independent program.
func rumoursOf(ctx context.Context, t town, r rumours, trials int, seed uint64) ([][]int32, error) {
	from, to := t.sizes[0][0], t.sizes[1][1]
	if r.size < 2 {
		from, to = t.sizes[r.size][0], t.sizes[r.size][1]
	} else {
		to = min(2*to, len(t.labels)/2)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	mean := 0.0
	for e := range t.graph.Edges() {
		mean += e.Weight / float64(t.graph.Size())
	}
	var edges [][3]float64
	for e := range t.graph.Edges() {
		w := e.Weight / mean
		if r.weights {
			w *= .5 + random.Float64()
		}
		edges = append(edges, [3]float64{float64(e.U), float64(e.V), w})
	}
	degree := 2 * float64(len(edges)) / float64(len(t.labels))
	in, err := json.Marshal(map[string]any{
		"n": len(t.labels), "edges": edges, "nature": r.nature, "passing": [2]float64{1 / degree, min(.75, 3/degree)},
		"from": from, "to": to, "trials": trials, "seed": seed,
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "python3", "-c", cascadesScript)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cascades.py: %w", err)
	}
	var all [][]int32
	for line := range strings.Lines(string(out)) {
		var one []int32
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// known is the graph that the analyst has.
func (r rumours) known(t town, seed uint64) (*graph.Graph, error) {
	random := rand.New(rand.NewPCG(seed, 2))
	if r.absent == 0 {
		return t.graph, nil
	}
	return t.graph.Reweigh(func(e graph.Edge) float64 {
		if random.Float64() < r.absent {
			return 0
		}
		return e.Weight
	})
}

// whisperRows is a row for each ε.
func whisperRows(ctx context.Context, s settings, t town, r rumours, seed uint64) ([][]string, error) {
	cascades, err := rumoursOf(ctx, t, r, s.trials, seed)
	if err != nil {
		return nil, err
	}
	known, err := r.known(t, seed)
	if err != nil {
		return nil, err
	}
	if known.Order() != len(t.labels) {
		return nil, fmt.Errorf("%d nodes are left of %d", known.Order(), len(t.labels))
	}
	var rows [][]string
	for _, epsilon := range epsilons {
		o := whisper.Options{Flip: 1 / (1 + math.Exp(epsilon)), Labels: t.labels}
		random := rand.New(rand.NewPCG(seed, uint64(8*epsilon)))
		if r.silent > 0 {
			o.Asked = make([]bool, len(t.labels))
			for i := range o.Asked {
				o.Asked[i] = random.Float64() >= r.silent
			}
		}
		m, err := whisper.New(known, o)
		if err != nil {
			return nil, err
		}
		tempering, err := m.Temper(ctx, seed, 0)
		if err != nil {
			return nil, err
		}
		var answers [][]whisper.Answer
		heard := 0
		for _, c := range cascades {
			answers = append(answers, answer(c, o, len(t.labels), random))
			heard += len(c)
		}
		results, err := m.Locate(ctx, tempering, answers, whisper.LocateOptions{})
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]string{t.name, r.name, strconv.Itoa(heard / len(cascades)), fmt.Sprint(epsilon)},
			scoreWhispers(t.labels, cascades, answers, results, o.Flip)...))
	}
	return rows, nil
}

// answer flips what people say.
func answer(heard []int32, o whisper.Options, n int, random *rand.Rand) []whisper.Answer {
	out := make([]whisper.Answer, n)
	for i := range out {
		out[i] = whisper.No
	}
	for _, i := range heard {
		out[i] = whisper.Yes
	}
	for i := range out {
		if random.Float64() < o.Flip {
			out[i] = whisper.Yes + whisper.No - out[i]
		}
		if o.Asked != nil && !o.Asked[i] {
			out[i] = whisper.NoAnswer
		}
	}
	return out
}

// scoreWhispers is the rest of a row.
func scoreWhispers(labels []int, cascades [][]int32, answers [][]whisper.Answer, results []whisper.Result, flip float64) []string {
	count := 0.0
	right, wrong, confidence := 0.0, 0.0, 0.0
	var bins [10][3]float64 // probabilities of trials, those that are right, and the variance of that if calibrated
	rules := [3]float64{}
	ruleNames := [3]string{"mean", "sum", "sum/√size"}
	for k, r := range results {
		truth := labels[cascades[k][0]]
		best := floats.MaxIdx(r.Community)
		p := r.Community[best]
		count++
		confidence += p
		hit := 0.0
		if best == truth {
			hit = 1
		} else if p > .9 {
			wrong++
		}
		right += hit
		bin := &bins[min(9, int(10*p))]
		bin[0], bin[1], bin[2] = bin[0]+p, bin[1]+hit, bin[2]+p*(1-p)
		for j, named := range simpleRules(labels, answers[k], flip) {
			if named == truth {
				rules[j]++
			}
		}
	}
	ece, calibrated := 0.0, 0.0
	for _, b := range bins {
		ece += math.Abs(b[0]-b[1]) / count
		calibrated += math.Sqrt(2/math.Pi*b[2]) / count // the mean of |X|, X normal
	}
	orders := make([]int, len(results[0].Community))
	for _, c := range labels {
		orders[c]++
	}
	top := floats.MaxIdx(rules[:])
	return []string{
		rate(right / count), rate(rules[top]/count) + " " + ruleNames[top], rate(float64(slices.Max(orders)) / float64(len(labels))),
		rate(confidence / count), rate(ece), rate(calibrated), fmt.Sprintf("%.3f", wrong/count),
	}
}

// simpleRules names the community of the largest mean, sum and sum over √size of unbiased answers.
func simpleRules(labels []int, answers []whisper.Answer, flip float64) [3]int {
	count := slices.Max(labels) + 1
	sum, asked := make([]float64, count), make([]float64, count)
	for i, a := range answers {
		if a == whisper.NoAnswer {
			continue
		}
		asked[labels[i]]++
		sum[labels[i]] -= flip
		if a == whisper.Yes {
			sum[labels[i]]++
		}
	}
	mean, root := make([]float64, count), make([]float64, count)
	for c := range sum {
		mean[c], root[c] = sum[c]/max(1, asked[c]), sum[c]/math.Sqrt(max(1, asked[c]))
	}
	return [3]int{floats.MaxIdx(mean), floats.MaxIdx(sum), floats.MaxIdx(root)}
}
