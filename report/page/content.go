// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/spatial/r2"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
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
	PerPerson  bool    `json:"perPerson,omitempty"` // all ε are of the person whose answers cost most
}

// NewBudget is what a scope has spent by its balance, whose Epsilon is not nil.
func NewBudget(x privacy.Balance) *Budget {
	b := &Budget{
		Scope: x.Scope, Releases: int(x.Releases), Epsilon: *x.Epsilon, Delta: x.Delta,
		PerSensor: x.Guarantee == privacy.PerSensor.String(), PerPerson: x.Guarantee == privacy.PerPerson.String(),
	}
	if x.CapEpsilon != nil {
		b.CapEpsilon, b.CapDelta = *x.CapEpsilon, *x.CapDelta
		if b.PerPerson { // whose cap is one of ε alone
			b.CapDelta = 0
		}
		if x.RemainingEpsilon != nil {
			b.Left = *x.RemainingEpsilon
		}
	}
	return b
}

// Of continues the ε of a scope with what it is of, "" where it is all values.
func (b Budget) Of() string {
	switch {
	case b.PerPerson:
		return " for the person who was asked most"
	case b.PerSensor:
		return " for any single sensor's values, not for several together"
	}
	return ""
}

// Query is a query of the store and what it lists.
type Query struct{ What, Text string }

// content is a view with what the template needs beside it.
type content struct {
	View
	Map        *scene
	Rows       []row
	More       int // communities beyond the rows
	Likeliest  []node
	Neighbours []neighbour

	graph       *graph.Graph
	nodes       report.Nodes
	labels      []int
	communities int
	places      []r2.Vec
	credible    map[int]bool
	sigma       map[int]float64
	answer      map[int]string // of those who answer
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
	Note                 string // σ of its sensor, or what a person answers
}

// neighbour is a node beside the likeliest.
type neighbour struct {
	Name  string
	Ratio float64 // of its probability to that of the likeliest
}

type fact struct{ Name, Value string }

// sum is a number at the head of the page.
type sum struct{ Name, Value, Note string }

// facts of a table, for the template.
type factTable struct {
	Caption string
	List    []fact
}

func filled(list []fact) []fact {
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" || f.Value == "0" })
}

// listed bounds the rows of a table.
const listed = 20

func (c *content) all() []int {
	all := make([]int, c.graph.Order())
	for i := range all {
		all[i] = i
	}
	return all
}

// order is the nodes, the likeliest first.
func (c *content) order() []int {
	order := c.all()
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.probability(b), c.probability(a)) })
	return order
}

func (c *content) probability(v int) float64 { return c.nodes.Probability[v] }

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

// call is a node's name with its key where they differ.
func (c *content) call(v int) string {
	if name, id := c.name(v), string(c.graph.ID(v)); name != id {
		return name + " (" + id + ")"
	}
	return c.name(v)
}

// Best is the likeliest node.
func (c *content) Best() string { return c.call(c.best) }

// Distinguishes reports whether the measurements distinguish one place from another: else a map and a list of nodes mean nothing.
func (c *content) Distinguishes() bool {
	r := c.Report
	return r.StandsOut() || r.Answers() && len(r.Communities) < 2
}
