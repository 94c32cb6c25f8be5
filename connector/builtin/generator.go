// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/suggest"
)

// ErrSpec says that the parameters of a generator are wrong.
var ErrSpec = errors.New("builtin: bad generator")

// Generator is a family of graphs with all its parameters. [Parse] makes one.
type Generator struct {
	family family
	values []float64 // beside family.parameters
}

type family struct {
	name       string
	summary    string
	parameters []parameter
	build      func(v []float64) (sample, error) // values in the order of parameters
}

type parameter struct {
	name    string
	initial string // "": must be given
	real    bool   // else a whole number
}

var (
	order = parameter{name: "n"}
	seed  = parameter{name: "seed", initial: "1"}
)

var families = []family{
	{
		"sbm", "stochastic block model",
		[]parameter{order, {name: "k"}, {name: "in", real: true}, {name: "out", real: true}, seed},
		func(v []float64) (sample, error) {
			g, blocks, err := graph.SBM(int(v[0]), int(v[1]), v[2], v[3], uint64(v[4]))
			return sample{graph: g, blocks: blocks}, err
		},
	},
	{
		"grid", "rectangular grid",
		[]parameter{{name: "rows"}, {name: "cols"}},
		func(v []float64) (sample, error) { return plain(graph.Grid(int(v[0]), int(v[1]))) },
	},
	{"path", "path", []parameter{order}, func(v []float64) (sample, error) { return plain(graph.Path(int(v[0]))) }},
	{"cycle", "cycle", []parameter{order}, func(v []float64) (sample, error) { return plain(graph.Cycle(int(v[0]))) }},
	{"complete", "complete graph", []parameter{order}, func(v []float64) (sample, error) { return plain(graph.Complete(int(v[0]))) }},
	{"star", "star", []parameter{order}, func(v []float64) (sample, error) { return plain(graph.Star(int(v[0]))) }},
	{"hypercube", "hypercube", []parameter{{name: "d"}}, func(v []float64) (sample, error) { return plain(graph.Hypercube(int(v[0]))) }},
	{
		"barabasi-albert", "preferential attachment",
		[]parameter{order, {name: "m"}, seed},
		func(v []float64) (sample, error) {
			return plain(graph.BarabasiAlbert(int(v[0]), int(v[1]), uint64(v[2])))
		},
	},
	{
		"rmat", "recursive matrix (Graph 500)",
		[]parameter{order, {name: "edges"}, seed},
		func(v []float64) (sample, error) {
			return plain(graph.RMAT(int(v[0]), int(v[1]), graph.Quadrants{}, uint64(v[2])))
		},
	},
	{
		"knn", "nearest neighbours among random points",
		[]parameter{order, {name: "k", initial: "8"}, seed},
		func(v []float64) (sample, error) {
			g, points, err := graph.KNN(int(v[0]), int(v[1]), uint64(v[2]))
			return sample{graph: g, points: points}, err
		},
	},
	{"interval", "unit interval", []parameter{order}, func(v []float64) (sample, error) { return plain(graph.Interval(int(v[0]))) }},
	{
		"road-like", "random road network",
		[]parameter{order, seed},
		func(v []float64) (sample, error) {
			g, points, err := graph.RoadLike(int(v[0]), uint64(v[1]))
			return sample{graph: g, points: points}, err
		},
	},
}

func plain(g *graph.Graph, err error) (sample, error) { return sample{graph: g}, err }

// Generators returns the names of the families with their parameters, such as
// "sbm,n=,k=,in=,out=,seed=1", where what stands empty must be given.
func Generators() []string {
	var forms []string
	for _, f := range families {
		forms = append(forms, f.form())
	}
	return forms
}

func (f family) form() string {
	var b strings.Builder
	b.WriteString(f.name)
	for _, p := range f.parameters {
		b.WriteString("," + p.name + "=" + p.initial)
	}
	return b.String()
}

// Parse reads a generator such as "sbm,n=500,k=2,in=0.05,out=0.001,seed=1", with
// or without "generate:" before it. It does not yet build anything.
func Parse(spec string) (Generator, error) {
	name, rest, more := strings.Cut(strings.TrimPrefix(spec, "generate:"), ",")
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		var names []string
		for _, f := range families {
			names = append(names, f.name)
		}
		return Generator{}, unknown("generator", name, names)
	}
	f := families[i]
	given := make(map[string]string)
	if more {
		for pair := range strings.SplitSeq(rest, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || value == "" {
				return Generator{}, f.bad("%q, want name=value", pair)
			}
			if !slices.ContainsFunc(f.parameters, func(p parameter) bool { return p.name == key }) {
				return Generator{}, f.bad("there is no parameter %q%s", key, suggestion(key, f.parameterNames()))
			}
			if _, twice := given[key]; twice {
				return Generator{}, f.bad("%s is given twice", key)
			}
			given[key] = value
		}
	}
	g := Generator{family: f}
	for _, p := range f.parameters {
		text, ok := given[p.name]
		if !ok {
			text = p.initial
		}
		x, err := f.value(p, text)
		if err != nil {
			return Generator{}, err
		}
		g.values = append(g.values, x)
	}
	return g, nil
}

func (f family) parameterNames() []string {
	var names []string
	for _, p := range f.parameters {
		names = append(names, p.name)
	}
	return names
}

// wholeLimit is 2⁵³: up to it float64 holds every whole number.
const wholeLimit = 1 << 53

func (f family) value(p parameter, text string) (float64, error) {
	if text == "" {
		return 0, f.bad("%s is missing", p.name)
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case p.real && (err != nil || x != x):
		return 0, f.bad("%s is %q, want a number", p.name, text)
	case !p.real && (err != nil || x != float64(int64(x)) || x < 0 || x > wholeLimit):
		return 0, f.bad("%s is %q, want a whole number from 0 to 2⁵³", p.name, text)
	}
	return x, nil
}

// bad is an error that ends with the form that was wanted.
func (f family) bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s (the form is generate:%s)", ErrSpec, f.name, fmt.Sprintf(format, args...), f.form())
}

// String returns the generator with all its parameters, as [Parse] reads it.
func (g Generator) String() string {
	var b strings.Builder
	b.WriteString("generate:" + g.family.name)
	for i, p := range g.family.parameters {
		b.WriteString("," + p.name + "=" + strconv.FormatFloat(g.values[i], 'g', -1, 64))
	}
	return b.String()
}

// Folder builds the graph. Its nodes have the property source, which is 1 at one
// node of the largest component, then community, or x and y, where the family
// knows them; its relationships have weight and length where they differ from 1.
// The files are written when they are opened.
func (g Generator) Folder() (Folder, error) {
	s, err := g.family.build(g.values)
	if err != nil {
		return Folder{}, fmt.Errorf("builtin: %w", err)
	}
	files := fstest.MapFS{NodesFile: {Data: s.nodes()}, RelationshipsFile: {Data: s.relationships()}}
	f := Folder{FS: files, Name: g.String(), Summary: g.family.summary}
	if s.blocks != nil {
		f.Community = "community"
	}
	return f, nil
}

// ErrUnknown says that there is no example or generator of that name.
var ErrUnknown = errors.New("builtin: unknown name")

// unknown is an error that suggests the nearest of what there is.
func unknown(kind, name string, known []string) error {
	return fmt.Errorf("%w: there is no %s %q%s", ErrUnknown, kind, name, suggestion(name, known))
}

// suggestion says which of the known words was meant, or lists them all.
func suggestion(word string, known []string) string {
	if best := suggest.Nearest(word, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; there are " + strings.Join(known, ", ")
}
