// SPDX-License-Identifier: Apache-2.0

package advice_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/study/advice"
)

// kind is a label or type of so many, with properties that are described as
// "name type distinct", on every one of them.
func kind(name string, count int64, properties ...string) connector.Kind {
	k := connector.Kind{Name: name, Count: count}
	for _, text := range properties {
		f := strings.Fields(text)
		p := connector.Property{Name: f[0], Type: connector.PropertyType(f[1]), Share: 1, Distinct: int(count), Positive: true}
		if len(f) > 2 {
			p.Distinct = int(f[2][0] - '0')
		}
		k.Properties = append(k.Properties, p)
	}
	return k
}

// between adds the labels of the ends.
func between(k connector.Kind, from, to string) connector.Kind {
	k.Ends = []connector.Ends{{From: strings.Split(from, " "), To: strings.Split(to, " "), Count: int(k.Count)}}
	return k
}

// films is the database that Neo4j's tutorials begin with, and friendships in it.
func films() connector.Schema {
	return connector.Schema{
		Labels: []connector.Kind{
			kind("Movie", 38, "title text", "released integer 9"),
			kind("Person", 133, "name text", "born integer 9", "infected number 2", "team text 4"),
		},
		Types: []connector.Kind{
			between(kind("ACTED_IN", 172), "Person", "Movie"), between(kind("FOLLOWS", 30, "strength number 4"), "Person", "Person"),
			between(kind("DIRECTED", 44), "Person", "Movie"),
		},
	}
}

func TestPropose(t *testing.T) {
	water := connector.Schema{
		Labels: []connector.Kind{
			kind("Junction", 92, "code text", "leak number 2"), kind("Node", 97, "code text"),
			kind("Tank", 5, "code text", "leak number 2"),
		},
		Types: []connector.Kind{
			between(kind("PIPE", 110, "length number"), "Junction Node", "Junction Node"),
			between(kind("PUMP", 9, "power number"), "Tank Node", "Junction Node"),
		},
	}
	bipartite := films()
	bipartite.Types = bipartite.Types[:1]
	unlabelled := connector.Schema{
		Labels: []connector.Kind{kind("", 34, "id integer", "source integer 2", "club text 2")},
		Types:  []connector.Kind{{Name: "", Count: 78, Ends: []connector.Ends{{Count: 78}}}},
	}
	for _, c := range []struct {
		name    string
		schema  connector.Schema
		given   advice.Choice
		leftOut []string
		want    advice.Choice
	}{
		{name: "what joins a label with itself", schema: films(), want: advice.Choice{
			NodeLabels: []string{"Person"}, RelationshipTypes: []string{"FOLLOWS"}, Source: "infected", NodeKey: "name", Community: "team",
			Weight: "strength",
		}},
		{
			name: "a label that is given", schema: films(), given: advice.Choice{NodeLabels: []string{"Movie", "Person"}, Source: "born"},
			want: advice.Choice{
				NodeLabels: []string{"Movie", "Person"}, RelationshipTypes: []string{"ACTED_IN", "FOLLOWS", "DIRECTED"}, Source: "born",
				Caption: "name",
			},
		},
		{name: "what is left out is proposed for nothing", schema: films(), leftOut: []string{"infected", "team"}, want: advice.Choice{
			NodeLabels: []string{"Person"}, RelationshipTypes: []string{"FOLLOWS"}, NodeKey: "name", Weight: "strength",
		}},
		{name: "two labels", schema: bipartite, given: advice.Choice{Measurement: "x"}, want: advice.Choice{
			NodeLabels: []string{"Movie", "Person"}, RelationshipTypes: []string{"ACTED_IN"}, Measurement: "x", Caption: "name",
		}},
		{name: "the rarest label that all ends have, and a key that one of two types lacks", schema: water, want: advice.Choice{
			NodeLabels: []string{"Junction"}, RelationshipTypes: []string{"PIPE"}, Source: "leak", NodeKey: "code", Length: "length",
		}},
		{
			name: "both types are given", schema: water, given: advice.Choice{RelationshipTypes: []string{"PIPE", "PUMP"}},
			want: advice.Choice{
				NodeLabels: []string{"Node"}, RelationshipTypes: []string{"PIPE", "PUMP"}, NodeKey: "code",
			},
		},
		{
			name: "a type that joins other labels too", schema: connector.Schema{
				Labels: []connector.Kind{kind("A", 3, "x integer"), kind("B", 900, "x integer")},
				Types: []connector.Kind{{Name: "R", Count: 1000, Ends: []connector.Ends{
					{From: []string{"B"}, To: []string{"B"}, Count: 980}, {From: []string{"A"}, To: []string{"A"}, Count: 20},
				}}, {Name: "S", Count: 1000, Ends: []connector.Ends{{From: []string{"A"}, To: []string{"B"}, Count: 1000}}}},
			}, given: advice.Choice{NodeLabels: []string{"A"}},
			want: advice.Choice{NodeLabels: []string{"A"}, RelationshipTypes: []string{"R"}},
		},
		{name: "one community in the sample of many nodes", schema: connector.Schema{
			Labels: []connector.Kind{kind("A", 5000, "ward text 1", "zone text 1")},
			Types:  []connector.Kind{between(kind("R", 9), "A", "A")},
		}, want: advice.Choice{NodeLabels: []string{"A"}, RelationshipTypes: []string{"R"}, Community: "zone"}},
		{name: "one community in all", schema: connector.Schema{
			Labels: []connector.Kind{kind("A", 500, "ward text 1")}, Types: []connector.Kind{between(kind("R", 9), "A", "A")},
		}, want: advice.Choice{NodeLabels: []string{"A"}, RelationshipTypes: []string{"R"}}},
		{name: "no labels", schema: unlabelled, want: advice.Choice{Source: "source", NodeKey: "id", Community: "club"}},
		{name: "nothing", want: advice.Choice{}},
	} {
		if got := advice.Propose(c.schema, c.given, c.leftOut); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

// A key is what a constraint makes unique, whatever it is called; what repeats in the
// sample, or is missing on some nodes, is none.
func TestProposeKey(t *testing.T) {
	people := kind("Person", 9, "name text 3", "passport text", "id integer")
	for _, c := range []struct {
		change func([]connector.Property)
		want   string
	}{
		{func([]connector.Property) {}, "id"},
		{func(p []connector.Property) { p[1].Unique = true }, "passport"},
		{func(p []connector.Property) { p[1].Unique, p[1].Share = true, 0.9 }, "id"},
		{func(p []connector.Property) { p[2].Distinct = 8 }, ""},
	} {
		k := people
		k.Properties = append([]connector.Property(nil), people.Properties...)
		c.change(k.Properties)
		s := connector.Schema{Labels: []connector.Kind{k}, Types: []connector.Kind{between(kind("KNOWS", 9), "Person", "Person")}}
		if got := advice.Propose(s, advice.Choice{Source: "x"}, nil).NodeKey; got != c.want {
			t.Errorf("the key is %q, want %q", got, c.want)
		}
	}
}

// A weight or a length that nothing uses is found by its name, where every relationship has it.
func TestUnused(t *testing.T) {
	on := func(share float64, positive bool, names ...string) (types []connector.Kind) {
		k := connector.Kind{Name: "KNOWS", Count: 9}
		for _, name := range names {
			k.Properties = append(k.Properties,
				connector.Property{Name: name, Type: connector.NumberType, Share: share, Positive: positive})
		}
		return []connector.Kind{k}
	}
	for _, c := range []struct {
		name     string
		types    []connector.Kind
		chosen   advice.Choice
		want     string
		isLength bool
	}{
		{"a weight", on(1, true, "year", "Weight"), advice.Choice{}, "Weight", false},
		{"a length", on(1, true, "year", "dist"), advice.Choice{}, "dist", true},
		{"both", on(1, true, "length", "strength"), advice.Choice{}, "strength", false},
		{"neither", on(1, true, "year"), advice.Choice{}, "", false},
		{"some lack it", on(.5, true, "weight"), advice.Choice{}, "", false},
		{"not positive", on(1, false, "weight"), advice.Choice{}, "", false},
		{"a weight is chosen", on(1, true, "length", "strength"), advice.Choice{Weight: "strength"}, "", false},
		{"a length is chosen", on(1, true, "weight"), advice.Choice{Length: "weight"}, "", false},
	} {
		if got, isLength := advice.Unused(c.types, c.chosen); got != c.want || isLength != c.isLength {
			t.Errorf("%s: %q, %v", c.name, got, isLength)
		}
	}
}
