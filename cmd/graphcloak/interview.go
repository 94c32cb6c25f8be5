// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/study/advice"
)

// longestName is the longest name that is proposed, in bytes: nobody reads more.
const longestName = 200

// nameable leaves out the names that no setting can hold, or no terminal show.
func nameable(s connector.Schema) connector.Schema {
	bad := func(name string) bool {
		return len(name) > longestName || name == "*" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, isTerminalControl) ||
			strings.ContainsRune(name, '\ufffd')
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

// fewNames shows the first of some names.
func fewNames(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(quoted(names[:min(most, len(names))]), ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func kindNames(kinds []connector.Kind) (names []string) {
	for _, k := range kinds {
		if k.Name != "" {
			names = append(names, k.Name)
		}
	}
	return names
}

// interview asks for each part of a choice that is not given. Its questions show names.
func (a *app) interview(ctx context.Context, s graphStore, schema connector.Schema, given, proposed advice.Choice,
	leftOut []string,
) (advice.Choice, error) {
	properties, err := s.Properties(ctx)
	if err != nil {
		return proposed, err
	}
	a.note("Enter takes what stands in brackets, - takes none.")
	q := interviewer{app: a, ctx: ctx, given: given, schema: schema, leftOut: leftOut}
	choice := given
	choice.NodeLabels = q.list("Node labels", given.NodeLabels, proposed.NodeLabels, kindNames(schema.Labels))
	if !slices.Equal(choice.NodeLabels, proposed.NodeLabels) { // what follows depends on it
		proposed = q.again(choice)
	}
	choice.RelationshipTypes = q.list("Relationship types", given.RelationshipTypes, proposed.RelationshipTypes, kindNames(schema.Types))
	if !slices.Equal(choice.RelationshipTypes, proposed.RelationshipTypes) {
		proposed = q.again(choice)
	}
	of := advice.CandidatesOf(schema, choice, leftOut)
	if given.Private() == "" {
		choice.Source = q.name("Private property with the sources, from 0 to 1", "", proposed.Source, of.Private, properties)
		if choice.Source == "" {
			choice.Measurement = q.name("Private property with what the sensors measured", "", proposed.Measurement, of.Private, properties)
		}
	}
	if q.err == nil && choice.Private() == "" {
		return choice, fail(exitUsage, "nothing is private, and so there is nothing to hide").hint(
			"name the node property that is, or --source-property")
	}
	if choice.Private() != proposed.Private() {
		proposed = q.again(choice)
	}
	of = advice.CandidatesOf(schema, choice, leftOut)
	for _, part := range []struct {
		text            string
		field           *string
		given, proposed string
		candidates      []string
	}{
		{"Property that identifies a node", &choice.NodeKey, given.NodeKey, proposed.NodeKey, of.NodeKey},
		{"Property that names a node's community (none: detected)", &choice.Community, given.Community, proposed.Community, of.Community},
		{"Relationship property with the weight (none: 1)", &choice.Weight, given.Weight, proposed.Weight, of.Weight},
		{"Relationship property with the length (none: hops)", &choice.Length, given.Length, proposed.Length, of.Length},
		{"Property that marks nodes with a sensor (none: all)", &choice.Sensor, given.Sensor, proposed.Sensor, of.Sensor},
		{"Property that readers know a node by", &choice.Caption, given.Caption, proposed.Caption, of.Caption},
	} {
		*part.field = q.name(part.text, part.given, part.proposed, part.candidates, properties)
	}
	return choice, q.err
}

// interviewer asks until an answer fails.
type interviewer struct {
	app     *app
	ctx     context.Context // of the questions
	given   advice.Choice
	schema  connector.Schema
	leftOut []string
	err     error
}

// again proposes for what was answered so far.
func (q *interviewer) again(choice advice.Choice) advice.Choice {
	return advice.Propose(q.schema, choice, q.leftOut)
}

// line asks once.
func (q *interviewer) line(text string, candidates []string, proposed string) string {
	if more := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return c == proposed }); len(more) > 0 {
		text += " (or " + fewNames(more) + ")"
	}
	answer, err := q.app.askLine(q.ctx, fmt.Sprintf("%s [%s]: ", text, proposed))
	q.err = err
	return strings.TrimSpace(answer)
}

// name asks for one property; none is "".
func (q *interviewer) name(text, given, proposed string, candidates, known []string) string {
	for given == "" && q.err == nil {
		switch answer := q.line(text, candidates, proposed); {
		case answer == "":
			return proposed
		case answer == "-":
			return ""
		case slices.Contains(known, answer):
			return answer
		default:
			q.unknown(answer, known)
		}
	}
	return given
}

// list asks for labels or types; none is all.
func (q *interviewer) list(text string, given, proposed, known []string) []string {
	for len(given) == 0 && len(known) > 0 && q.err == nil {
		others := slices.DeleteFunc(slices.Clone(known), func(n string) bool { return slices.Contains(proposed, n) })
		answer := q.line(text, others, strings.Join(quoted(proposed), ","))
		if answer == "" {
			return proposed
		}
		if answer == "-" {
			return nil
		}
		names, err := csv.NewReader(strings.NewReader(answer)).Read()
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		wrong := slices.IndexFunc(names, func(n string) bool { return !slices.Contains(known, n) })
		switch {
		case err != nil:
			q.app.note("Names are separated by commas; double quotes stand around one that holds a comma.")
		case wrong >= 0:
			q.unknown(names[wrong], known)
		default:
			return names
		}
	}
	return given
}

func (q *interviewer) unknown(name string, known []string) {
	text := "There is no " + strconv.Quote(name) + "."
	if near := suggest.Nearest(name, known); near != "" {
		text += " Did you mean " + strconv.Quote(near) + "?"
	}
	q.app.note("%s", text)
}
