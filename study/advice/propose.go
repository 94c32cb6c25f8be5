// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/connector"
)

// Choice is which part of a store becomes the graph, and what its properties are. What is
// empty is not chosen.
type Choice struct {
	NodeLabels, RelationshipTypes []string

	Source, Measurement string // the private one: at most one of the two
	NodeKey             string
	Community           string
	Weight, Length      string // of relationships
	Sensor, Caption     string
}

// Private is the property that is released with noise.
func (c Choice) Private() string { return cmp.Or(c.Source, c.Measurement) }

// Words by which people name a property, the plainest first; compared without case and
// without marks.
var (
	sourceWords = []string{
		"source", "sources", "infected", "infection", "leak", "outbreak", "rumour", "rumor", "contamination",
		"contaminated", "origin", "risk", "heat",
	}
	measurementWords = []string{"measurement", "measured", "reading", "concentration", "observation"}
	keyWords         = []string{"id", "uuid", "key", "code", "number", "name"}
	communityWords   = []string{
		"community", "communityid", "cluster", "club", "district", "zone", "team", "group", "department", "region",
		"ward", "block", "leiden", "louvain",
	}
	weightWords  = []string{"weight", "strength", "conductance", "similarity", "frequency", "score"}
	lengthWords  = []string{"length", "distance", "dist", "km", "metres", "meters", "miles"}
	sensorWords  = []string{"sensor", "issensor", "hassensor", "monitored"}
	captionWords = []string{"name", "title", "caption", "displayname", "fullname", "label", "lastname"}
)

// longestName is the longest name that is proposed, in bytes: nobody reads more.
const longestName = 200

// Nameable leaves out the names that no setting can hold, or no reader sees as they are.
func Nameable(s connector.Schema) connector.Schema {
	bad := func(name string) bool {
		return len(name) > longestName || name == "*" || strings.TrimSpace(name) != name ||
			strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
	}
	clean := func(kinds []connector.Kind) []connector.Kind {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k connector.Kind) bool { return bad(k.Name) })
		for i := range kinds {
			kinds[i].Properties = slices.DeleteFunc(slices.Clone(kinds[i].Properties),
				func(p connector.Property) bool { return p.Name == "" || bad(p.Name) })
			for j := range kinds[i].Ends {
				e := &kinds[i].Ends[j]
				e.From, e.To = slices.DeleteFunc(slices.Clone(e.From), bad), slices.DeleteFunc(slices.Clone(e.To), bad)
			}
		}
		return kinds
	}
	return connector.Schema{Labels: clean(s.Labels), Types: clean(s.Types), Cut: s.Cut}
}

// Propose completes what is given of a choice from the schema. Properties that are left
// out become no part of it.
func Propose(s connector.Schema, given Choice, leftOut []string) Choice {
	c := given
	if len(c.RelationshipTypes) == 0 || len(c.NodeLabels) == 0 {
		c.proposeSelection(s)
	}
	nodes, relationships := c.properties(s, leftOut)
	taken := []string{c.Source, c.Measurement, c.NodeKey, c.Community, c.Weight, c.Length, c.Sensor, c.Caption}
	choose := func(dst *string, from []connector.Property, words []string, fits func(connector.Property) bool) {
		if *dst != "" {
			return
		}
		fitting := filter(from, func(p connector.Property) bool { return fits(p) && !slices.Contains(taken, p.Name) })
		*dst = byWord(fitting, words)
		taken = append(taken, *dst)
	}
	if c.Private() == "" {
		choose(&c.Source, nodes, sourceWords, mayBePrivate)
	}
	if c.Private() == "" {
		choose(&c.Measurement, nodes, measurementWords, mayBePrivate)
	}
	if c.NodeKey == "" {
		unique := filter(nodes, func(p connector.Property) bool { return p.Unique && identifies(p) })
		choose(&c.NodeKey, unique, append(slices.Clone(keyWords), words(unique)...), identifies)
	}
	choose(&c.NodeKey, nodes, keyWords, identifies)
	choose(&c.Community, nodes, communityWords, parted)
	choose(&c.Weight, relationships, weightWords, measures)
	choose(&c.Length, relationships, lengthWords, measures)
	choose(&c.Sensor, nodes, sensorWords, marks)
	choose(&c.Caption, nodes, captionWords, isText)
	return c
}

// PrivateCandidates are the properties that could be the private one, with the same labels and types.
func PrivateCandidates(s connector.Schema, c Choice, leftOut []string) []string {
	nodes, _ := c.properties(s, leftOut)
	return names(filter(nodes, mayBePrivate))
}

// Unused returns a property of the chosen relationships that is called like a weight or a length,
// and that nothing is chosen to be; "" where there is none, or where one is chosen.
func Unused(types []connector.Kind, c Choice) (property string, isLength bool) {
	if c.Weight != "" || c.Length != "" {
		return "", false
	}
	measures := filter(merge(types, nil), measures)
	if property = byWord(measures, weightWords); property != "" {
		return property, false
	}
	property = byWord(measures, lengthWords)
	return property, property != ""
}

// Partial lists properties that are called like a weight or a length and that some of the
// chosen relationships lack: they are proposed as neither.
func Partial(s connector.Schema, c Choice, leftOut []string) (out []string) {
	_, relationships := c.properties(s, leftOut)
	for _, p := range relationships {
		called := slices.Contains(weightWords, word(p.Name)) || slices.Contains(lengthWords, word(p.Name))
		if called && p.Type.Numeric() && p.Share > 0 && p.Share < 1 {
			out = append(out, p.Name)
		}
	}
	return out
}

// mayBePrivate holds for numbers that are no identity.
func mayBePrivate(p connector.Property) bool { return p.Type.Numeric() && !p.Unique }

// identifies holds for what every node of the sample has, each another.
func identifies(p connector.Property) bool {
	return (p.Type == connector.TextType || p.Type == connector.IntegerType) && p.Share >= 1 && p.Distinct < 0
}

// parted holds for what every node of the sample has, and many have in common.
func parted(p connector.Property) bool {
	return (p.Type == connector.TextType || p.Type == connector.IntegerType) && p.Share >= 1 && p.Distinct >= 2
}

// measures holds for a positive number on every relationship of the sample.
func measures(p connector.Property) bool { return p.Type.Numeric() && p.Share >= 1 && p.Positive }

func marks(p connector.Property) bool {
	return p.Type == connector.BooleanType || p.Type == connector.IntegerType && p.Distinct == 2
}

func isText(p connector.Property) bool { return p.Type == connector.TextType && p.Share >= 0.5 }

func filter(list []connector.Property, keep func(connector.Property) bool) []connector.Property {
	return slices.DeleteFunc(slices.Clone(list), func(p connector.Property) bool { return !keep(p) })
}

func names(list []connector.Property) (out []string) {
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out
}

// words are the names of properties as words.
func words(list []connector.Property) (out []string) {
	for _, p := range list {
		out = append(out, word(p.Name))
	}
	return out
}

func word(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- .", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// byWord returns the property that is named by the first of the words, "" where none is.
func byWord(list []connector.Property, words []string) string {
	for _, w := range words {
		for _, p := range list {
			if word(p.Name) == w {
				return p.Name
			}
		}
	}
	return ""
}

// proposeSelection chooses labels and types: the type with most relationships among those
// that join a label with itself, where there is one, and all that run between the same labels.
func (c *Choice) proposeSelection(s connector.Schema) {
	types := s.Types
	if len(c.RelationshipTypes) > 0 {
		types = kinds(s.Types, c.RelationshipTypes)
	}
	if len(c.NodeLabels) == 0 {
		var ends []connector.Ends
		if len(c.RelationshipTypes) > 0 {
			for _, k := range types {
				ends = append(ends, k.Ends...)
			}
		} else if k, ok := backbone(types); ok {
			ends = k.Ends
		}
		c.NodeLabels = cover(ends, s.Labels)
	}
	if len(c.RelationshipTypes) > 0 {
		return
	}
	for _, k := range types {
		if k.Name != "" && (len(c.NodeLabels) == 0 || c.joins(k) >= few) {
			c.RelationshipTypes = append(c.RelationshipTypes, k.Name)
		}
	}
}

// few is the share of a type's relationships from which they are no accident. The type may
// join other labels, too.
const few = 0.01

// backbone is the type to begin with.
func backbone(types []connector.Kind) (best connector.Kind, ok bool) {
	score := func(k connector.Kind) float64 {
		same, all := 0, 0
		for _, e := range k.Ends {
			all += e.Count
			if slices.ContainsFunc(e.From, func(l string) bool { return slices.Contains(e.To, l) }) {
				same += e.Count
			}
		}
		if 2*same >= all {
			return float64(k.Count)
		}
		return -1 / float64(k.Count+1) // after all that do, the largest first
	}
	for _, k := range types {
		if !ok || score(k) > score(best) {
			best, ok = k, true
		}
	}
	return best, ok
}

// cover returns few labels of which every end has one; of labels that do the same the
// rarest, for it says most. It returns none where an end has no label.
func cover(ends []connector.Ends, all []connector.Kind) (labels []string) {
	var left [][]string
	for _, e := range ends {
		left = append(left, e.From, e.To)
	}
	size := map[string]int64{}
	for _, k := range all {
		size[k.Name] = k.Count
	}
	for len(left) > 0 {
		count := map[string]int{}
		for _, has := range left {
			for _, l := range has {
				count[l]++
			}
		}
		best := ""
		for l, n := range count {
			if d := cmp.Or(cmp.Compare(n, count[best]), cmp.Compare(size[best], size[l]), cmp.Compare(best, l)); best == "" || d > 0 {
				best = l
			}
		}
		if best == "" || len(labels) == connector.SchemaKinds {
			return nil
		}
		labels = append(labels, best)
		left = slices.DeleteFunc(left, func(has []string) bool { return slices.Contains(has, best) })
	}
	slices.Sort(labels)
	return labels
}

// joins is the share of a type's sample with both ends among the labels.
func (c *Choice) joins(k connector.Kind) float64 {
	inside, all := 0, 0
	among := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(c.NodeLabels, l) })
	}
	for _, e := range k.Ends {
		all += e.Count
		if among(e.From) && among(e.To) {
			inside += e.Count
		}
	}
	return float64(inside) / math.Max(1, float64(all))
}

// kinds returns those with the names, all without any.
func kinds(all []connector.Kind, names []string) []connector.Kind {
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(k connector.Kind) bool { return !slices.Contains(names, k.Name) })
}

// properties returns those of the chosen nodes and relationships.
func (c *Choice) properties(s connector.Schema, leftOut []string) (nodes, relationships []connector.Property) {
	return merge(kinds(s.Labels, c.NodeLabels), leftOut), merge(kinds(s.Types, c.RelationshipTypes), leftOut)
}

// merge joins the properties of several kinds. Distinct becomes −1 where every value of the
// samples is another.
func merge(list []connector.Kind, leftOut []string) (merged []connector.Property) {
	place, sampled, values, whole := map[string]int{}, 0.0, map[string]float64{}, true
	for _, k := range list {
		whole = whole && k.Count <= connector.SchemaSample
		sample := math.Min(float64(k.Count), connector.SchemaSample)
		sampled += sample
		for _, p := range k.Properties {
			if slices.Contains(leftOut, p.Name) {
				continue
			}
			at, ok := place[p.Name]
			if !ok {
				at = len(merged)
				place[p.Name] = at
				merged = append(merged, connector.Property{Name: p.Name, Positive: true, Unique: true})
			}
			m := &merged[at]
			m.Type, m.Positive, m.Unique = m.Type.Merge(p.Type), m.Positive && p.Positive, m.Unique && p.Unique
			m.Distinct += p.Distinct
			values[p.Name] += p.Share * sample
		}
	}
	for i := range merged {
		m := &merged[i]
		m.Share = values[m.Name] / sampled
		if m.Share > 1-1e-9 {
			m.Share = 1
		}
		switch {
		case float64(m.Distinct) >= values[m.Name]-0.5:
			m.Distinct = -1
		case !whole: // stores keep what belongs together side by side: one value in the sample may not be all
			m.Distinct = max(2, m.Distinct)
		}
	}
	return merged
}
