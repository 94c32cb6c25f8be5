// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/report"
)

// View is what the page of one run shows. Only Report is needed; a map is drawn where
// [report.Report.Nodes] has a graph.
type View struct {
	Report     *report.Report
	Places     []r2.Vec // of the nodes, y upwards; NaN where one has none; nil: laid out
	Geographic bool     // places are longitude and latitude
	Captions   []string // what a reader calls the nodes; nil or "": their ids
	Budget     *Budget
	Truth      *Truth
	Command    string  // that repeats the run
	Queries    []Query // that show the members in the store
	NoMap      string  // why there is no map; "" says nothing
	NoCurve    string  // why the report has no curve; "" says nothing
}

// Budget is what the scope of a run has spent in all, and its limit.
type Budget struct {
	Scope      string  `json:"budgetScope"`
	Releases   int     `json:"releases"`
	Epsilon    float64 `json:"epsilon"` // composed
	Delta      float64 `json:"delta"`
	CapEpsilon float64 `json:"capEpsilon,omitempty"` // 0: no limit
	CapDelta   float64 `json:"capDelta,omitempty"`
	Left       float64 `json:"remainingEpsilon,omitempty"`
	Per        string  `json:"capPer,omitempty"`    // span of time that the limit is for; "": all time
	PerSensor  bool    `json:"perSensor,omitempty"` // all ε and δ are of any single sensor's values
}

// Of continues the ε of a scope with what it is of, "" where it is all values.
func (b Budget) Of() string {
	if b.PerSensor {
		return " for any single sensor's values, not for several together"
	}
	return ""
}

// Truth is where the sources really were, which only a demonstration knows.
type Truth struct {
	Nodes []int
	Right bool // the first community holds one of them
	Text  string
}

// Query is a query of the store and what it lists.
type Query struct{ What, Text string }

// drawn bounds the nodes that are drawn one by one; above it communities are.
const drawn = 4000

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleSheet string

// Style is the style sheet, which other pages of the project share.
func Style() template.CSS {
	return template.CSS(styleSheet + "@media screen and (prefers-color-scheme:dark){" + darkRules() + "}\n")
}

//go:embed map.js
var mapScript string

// script moves and magnifies the maps of a page, which says the same without it.
func script() template.JS { return template.JS(mapScript) }

// Policy is a Content-Security-Policy under which a page of [Write] loads nothing, keeps
// its style, and runs nothing but its own script.
func Policy() string { return policy(string(Style()), string(script())) }

// policy allows a style and scripts by their digests, and nothing else.
func policy(style string, scripts ...string) string {
	allowed := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	all := "default-src 'none'; style-src" + allowed(style)
	for _, s := range scripts {
		all += "; script-src" + allowed(s)
	}
	return all + "; base-uri 'none'; form-action 'none'"
}

// Write writes the page.
func Write(w io.Writer, v View) error {
	t, err := template.New("page.html").Funcs(functions()).Parse(pageHTML)
	if err != nil {
		return err
	}
	c, err := newContent(v)
	if err != nil {
		return err
	}
	return t.Execute(w, c)
}

// content is a view with what the template needs beside it.
type content struct {
	View
	Map, Zoom  *scene
	Rows       []row
	More       int // communities beyond the rows
	Likeliest  []node
	Neighbours []neighbour
	Chart      *chart
	Settings   []fact
	Facts      []fact

	graph       *graph.Graph
	nodes       report.Nodes
	labels      []int
	communities int
	places      []r2.Vec
	credible    map[int]bool
	sigma       map[int]float64
	sigmaMin    float64
	sigmaMax    float64
	best        int
	highest     float64
}

// row is a community of the ranking.
type row struct {
	report.Community
	Rank    int
	Width   float64 // of its bar, of 200
	Before  float64 // the same before the measurements
	Members []string
}

// node is one of the likeliest.
type node struct {
	Key, Name, Community string
	Probability          float64
	Credible             bool
	Sigma                string
}

// neighbour is a node beside the likeliest.
type neighbour struct {
	Name  string
	Ratio float64 // of its probability to that of the likeliest
}

type fact struct{ Name, Value string }

// listed bounds the rows of a table.
const listed = 20

func newContent(v View) (*content, error) {
	c := &content{View: v, nodes: v.Report.Nodes()}
	c.graph, c.labels = c.nodes.Graph, c.nodes.Community
	c.Chart = newChart(v.Report)
	c.Settings, c.Facts = settings(v.Report), facts(v.Report)
	if c.graph != nil && c.Tells() {
		c.gather()
		if err := c.draw(); err != nil {
			return nil, err
		}
		c.Likeliest, c.Neighbours = c.likeliest(), c.neighbours()
	}
	c.rank()
	return c, nil
}

// gather collects what is drawn and listed of the nodes.
func (c *content) gather() {
	for _, k := range c.labels {
		c.communities = max(c.communities, k+1)
	}
	c.sigma = make(map[int]float64, len(c.nodes.Sensors))
	c.sigmaMin, c.sigmaMax = math.Inf(1), 0
	for k, v := range c.nodes.Sensors {
		s := c.nodes.Sigma[k]
		c.sigma[v] = s
		c.sigmaMin, c.sigmaMax = min(c.sigmaMin, s), max(c.sigmaMax, s)
	}
	order := c.order()
	c.credible = make(map[int]bool)
	for _, v := range order[:min(len(order), c.Report.Posterior.CredibleSetSize)] {
		c.credible[v] = true
	}
	c.best = order[0]
	c.highest = max(c.probability(c.best), min(1, saturation/float64(len(order))))
	if c.Places != nil {
		c.places = project(c.Places, c.Geographic, c.graph)
	}
}

func (c *content) probability(v int) float64 { return c.nodes.Probability[v] }

// order is the nodes, the likeliest first.
func (c *content) order() []int {
	order := c.all()
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.probability(b), c.probability(a)) })
	return order
}

// draw makes the map, and a closer one where the first shows communities.
func (c *content) draw() error {
	if n := c.graph.Order(); n <= drawn {
		at := slices.Clone(c.places)
		if at == nil {
			at = place(c.graph, c.labels, c.communities)
		}
		c.Map = c.nodeScene("map", c.all(), at)
		return nil
	}
	c.Map = c.communityScene()
	nodes := ball(c.graph, c.best, near)
	at, err := c.placeSome(nodes)
	if err != nil {
		return err
	}
	c.Zoom = c.nodeScene("zoom", nodes, at)
	return nil
}

// placeSome places some nodes: where they are, else by a layout of what lies between them.
func (c *content) placeSome(nodes []int) ([]r2.Vec, error) {
	if c.places != nil {
		at := make([]r2.Vec, len(nodes))
		for k, v := range nodes {
			at[k] = c.places[v]
		}
		return at, nil
	}
	g, err := induced(c.graph, nodes)
	if err != nil {
		return nil, err
	}
	labels := relabel(c.labels, nodes)
	return place(g, labels, slices.Max(labels)+1), nil
}

// near bounds the nodes of the closer map.
const near = 300

func (c *content) all() []int {
	all := make([]int, c.graph.Order())
	for i := range all {
		all[i] = i
	}
	return all
}

// relabel numbers the communities of some nodes from 0.
func relabel(labels, nodes []int) []int {
	index, out := make(map[int]int), make([]int, len(nodes))
	for k, v := range nodes {
		i, ok := index[labels[v]]
		if !ok {
			i = len(index)
			index[labels[v]] = i
		}
		out[k] = i
	}
	return out
}

// named reports whether a node is in the community that the answer names.
func (c *content) named(v int) bool {
	return c.Report.StandsOut() && c.labels[v] == c.Report.Communities[0].CommunityID
}

// name is what a reader calls a node.
func (c *content) name(v int) string {
	if c.Captions != nil && c.Captions[v] != "" {
		return c.Captions[v]
	}
	return string(c.graph.ID(v))
}

// rank makes the rows of the ranking.
func (c *content) rank() {
	if !c.Report.Answers() {
		return
	}
	list := c.Report.Communities
	shown := list[:min(listed, len(list))]
	c.More = len(list) - len(shown)
	members := c.members(shown)
	for k, x := range shown {
		c.Rows = append(c.Rows, row{x, k + 1, 200 * x.Probability, 200 * x.Prior, members[x.CommunityID]})
	}
}

// members are the best-connected nodes of some communities, five of each.
func (c *content) members(of []report.Community) map[int][]string {
	out, left := make(map[int][]string), 5*len(of)
	if c.graph == nil {
		return out
	}
	shown := make(map[int]bool)
	for _, x := range of {
		shown[x.CommunityID] = true
	}
	order := slices.DeleteFunc(c.all(), func(v int) bool { return !shown[c.labels[v]] })
	slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(c.graph.Degree(w), c.graph.Degree(v)) })
	for _, v := range order {
		if k := c.labels[v]; len(out[k]) < 5 {
			out[k] = append(out[k], c.call(v))
			if left--; left == 0 {
				break
			}
		}
	}
	return out
}

// call is a node's name with its key where they differ.
func (c *content) call(v int) string {
	if name, id := c.name(v), string(c.graph.ID(v)); name != id {
		return name + " (" + id + ")"
	}
	return c.name(v)
}

func (c *content) likeliest() []node {
	names := make(map[int]string)
	for _, x := range c.Report.Communities {
		names[x.CommunityID] = x.Name
	}
	order := c.order()
	var out []node
	for _, v := range order[:min(listed/2, len(order))] {
		sigma := "no sensor"
		if s, ok := c.sigma[v]; ok {
			sigma = digits(s)
		}
		out = append(out, node{string(c.graph.ID(v)), c.name(v), names[c.labels[v]], c.probability(v), c.credible[v], sigma})
	}
	return out
}

// neighbours compares the likeliest node with those beside it, the likeliest first.
func (c *content) neighbours() []neighbour {
	var out []neighbour
	for _, w := range c.graph.Neighbors(c.best) {
		out = append(out, neighbour{c.call(int(w)), c.probability(int(w)) / c.probability(c.best)})
	}
	slices.SortStableFunc(out, func(a, b neighbour) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return out[:min(8, len(out))]
}

// Best is the likeliest node.
func (c *content) Best() string { return c.call(c.best) }
