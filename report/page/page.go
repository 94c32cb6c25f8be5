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

	"github.com/graphcloak/graphcloak/report"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleSheet string

// Style is the style sheet, which other pages of the project share.
func Style() template.CSS {
	return template.CSS(styleSheet + "@media screen and (prefers-color-scheme:dark){" + darkRules() + "}\n")
}

// Policy is a Content-Security-Policy under which a page of [Write] loads nothing, runs no script and keeps
// its style.
func Policy() string {
	sum := sha256.Sum256([]byte(Style()))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
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

func newContent(v View) (*content, error) {
	c := &content{View: v, nodes: v.Report.Nodes()}
	c.graph, c.labels = c.nodes.Graph, c.nodes.Community
	if c.graph != nil && c.Distinguishes() {
		c.gather()
		if err := c.draw(); err != nil {
			return nil, err
		}
		if c.Likeliest = c.likeliest(); !c.Whisper() {
			c.Neighbours = c.neighbours()
		}
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
	c.answer = make(map[int]string, len(c.nodes.Answering))
	for k, v := range c.nodes.Answering {
		c.answer[v] = saysNo
		if c.nodes.Yes[k] {
			c.answer[v] = saysYes
		}
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

func (c *content) likeliest() []node {
	names := make(map[int]string)
	for _, x := range c.Report.Communities {
		names[x.CommunityID] = x.Name
	}
	order := c.order()
	var out []node
	for _, v := range order[:min(listed/2, len(order))] {
		out = append(out, node{string(c.graph.ID(v)), c.name(v), names[c.labels[v]], c.probability(v), c.credible[v], c.note(v)})
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

func functions() template.FuncMap {
	return template.FuncMap{
		"percent": percent, "plain": plain, "prose": prose, "digits": digits, "thousands": thousands, "cut": cut,
		"style": Style, "policy": Policy,
		"times": times, "factor": factor, "share": share,
		"twenty": func(k int) int { return 20 * k },
		"star":   func() string { return star }, "last": func() string { return class(bins - 1) },
		"lastFill": func() string { return light[bins-1] },
	}
}
