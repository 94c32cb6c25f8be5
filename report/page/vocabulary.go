// SPDX-License-Identifier: Apache-2.0

package page

// What people answer.
const (
	saysYes = "says yes"
	saysNo  = "says no"
)

// vocabulary is what a page calls things.
type vocabulary struct {
	Node, Nodes string
	Source      string // what is looked for
	Data        string // what is published
	Map         string // title of the map
	Measure     string // what its colours show
	Truth       string // what its star shows
	Silent      string // what a square shows
	None        string // in place of a value that was not published
	Note        string // heading of what is said of each node
	Bar         string // what the bar of a community shows
	Likeliest   string // what the list of nodes says
	Report      string // name of the number of those who report
}

// notAFinding says what a list of nodes is worth.
const notAFinding = "The noise protects exactly this: the list tells roughly where, and its first row is not a finding."

var (
	ofHeat = vocabulary{
		Node: "node", Nodes: "nodes", Source: "the source", Data: "measurements",
		Map: "Map of the graph, coloured by where the source may be", Measure: "probability of holding the source",
		Truth: "where the source really was", Silent: "a node without a sensor", None: "no sensor", Note: "noise σ of its sensor",
		Bar:       "the community holds the source",
		Likeliest: "Probability of being the source. " + notAFinding, Report: "sensors that report",
	}
	ofPeople = vocabulary{
		Node: "person", Nodes: "people", Source: "whoever started the whisper", Data: "answers",
		Map: "Map of the people, coloured by who may have started the whisper", Measure: "probability of having started the whisper",
		Truth: "who really started the whisper", Silent: "somebody who was not asked", None: "not asked", Note: "answer",
		Bar: "the whisper began in the community",
		Likeliest: "Probability of having started the whisper. The list tells roughly where to look; no row of it is a finding about " +
			"a person.",
		Report: "people who answer",
	}
)

// words are those of what the page is about.
func (c *content) words() vocabulary {
	switch {
	case c.Whisper():
		return ofPeople
	case c.Several():
		v := ofHeat
		v.Bar, v.Likeliest = "the community holds at least one source", "Probability of holding at least one source. "+notAFinding
		return v
	}
	return ofHeat
}

// Words is words, for the template.
func (c *content) Words() vocabulary { return c.words() }

// Whisper reports whether the page is about what people have heard.
func (c *content) Whisper() bool { return c.Report.Whisper != nil }

// Several reports whether the posterior supposes another number of sources than one.
func (c *content) Several() bool { return c.Report.Sources != nil && c.Report.Sources.Count != 1 }

// note is the noise of a node's sensor, or what a person answers.
func (c *content) note(v int) string {
	if s, ok := c.sigma[v]; ok {
		return digits(s)
	}
	if said := c.answer[v]; said != "" {
		return said
	}
	return c.words().None
}

// count says how many nodes or people there are.
func (c *content) count(n int) string {
	if c.Whisper() {
		return peopleOf(n)
	}
	return nodesOf(n)
}
