// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/study/advice"
)

// holder is a store that can look through all of what is selected.
type holder interface {
	Holds(ctx context.Context, sel graph.Selection, property string, onRelationship bool) (bool, error)
}

// misplaced finds the properties of the settings that nothing selected has: of public ones
// by a look through all, of the private one by the schema alone, where that saw all.
func (a *app) misplaced(ctx context.Context, s graphStore, schema connector.Schema) (found []advice.Misplaced, err error) {
	settings, err := modelSettings(a.config)
	if err != nil || settings.Selection.NodeQuery != "" {
		return nil, err
	}
	sel := settings.Selection
	c := a.given()
	for _, x := range []struct {
		flag, property  string
		onRelationships bool
	}{
		{"source-property", c.Source, false},
		{"measurement-property", c.Measurement, false},
		{"node-key", c.NodeKey, false},
		{"community-property", c.Community, false},
		{"sensor-property", c.Sensor, false},
		{"node-caption", c.Caption, false},
		{"relationship-weight-property", c.Weight, true},
		{"metric", c.Length, true},
	} {
		all, names := schema.Labels, sel.NodeLabels
		if x.onRelationships {
			all, names = schema.Types, sel.RelationshipTypes
		}
		private := x.property == c.Private()
		inside, seenAll, others := whereIs(all, names, x.property)
		if x.property == "" || inside || private && (!seenAll || schema.Cut) {
			continue
		}
		if h, ok := unwatched(s).(holder); ok && !private && (!seenAll || schema.Cut) {
			if inside, err = h.Holds(ctx, sel, x.property, x.onRelationships); err != nil {
				return nil, err
			}
		} else {
			inside = !seenAll || schema.Cut
		}
		if !inside {
			found = append(found, advice.Misplaced{Setting: x.flag, Property: x.property, Private: private, Others: others})
		}
	}
	return found, nil
}

// whereIs says whether a property is in the sample of a selected label or type, whether
// those samples are all there is, and which of the others have it.
func whereIs(all []connector.Kind, names []string, property string) (inside, seenAll bool, others []string) {
	seenAll = true
	for _, k := range all {
		has := slices.ContainsFunc(k.Properties, func(p connector.Property) bool { return p.Name == property })
		if len(names) > 0 && !slices.Contains(names, k.Name) {
			if has {
				others = append(others, k.Name)
			}
			continue
		}
		inside, seenAll = inside || has, seenAll && k.Count <= connector.SchemaSample && len(k.Properties) < connector.SchemaProperties
	}
	return inside, seenAll, others
}
