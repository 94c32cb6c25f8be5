// SPDX-License-Identifier: Apache-2.0

package config

import (
	"math"
	"strconv"
)

// Schema returns the JSON Schema of a configuration file, for an editor or a
// validator. Its values encode as JSON.
func Schema() map[string]any {
	properties := make(map[string]any)
	for _, s := range table() {
		if !s.noFile {
			properties[s.Key] = s.schema()
		}
	}
	properties[jobsKey] = map[string]any{
		"description": "jobs that `graphcloak serve` runs on their schedules; every other key of a job is a setting of its own",
		"type":        "array", "maxItems": maxJobs,
		"items": map[string]any{"type": "object", "required": []string{"name", "schedule"}},
	}
	return map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "GraphCloak configuration",
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": false,
	}
}

func (s Setting) schema() map[string]any {
	schema := map[string]any{"description": s.Help}
	if s.Default != "" {
		schema["default"] = s.Default
	}
	switch kind := s.Type(); kind {
	case "list":
		schema["type"], schema["items"] = "array", map[string]any{"type": "string", "minLength": 1}
	case "boolean":
		schema["type"], schema["default"] = kind, false
	case "number":
		schema["type"] = kind
		if x, err := strconv.ParseFloat(s.Default, 64); err == nil {
			schema["default"] = x
		}
		s.wants.describe(schema)
	default:
		schema["type"] = "string"
	}
	if s.Values != nil {
		schema["enum"] = s.Values
	}
	if s.Key == "tau" {
		delete(schema, "type")
		schema["anyOf"] = []any{
			map[string]any{"enum": []string{"auto"}},
			map[string]any{"type": "number", "exclusiveMinimum": 0},
			map[string]any{"type": "string", "pattern": `^[0-9.]+(e[+-]?[0-9]+)?\.\.[0-9.]+(e[+-]?[0-9]+)?$`},
		}
	}
	return schema
}

// describe adds the bounds in the words of JSON Schema.
func (b bounds) describe(schema map[string]any) {
	if b.text == "" {
		return
	}
	schema[map[bool]string{false: "minimum", true: "exclusiveMinimum"}[b.openMin]] = b.min
	if b.max < math.MaxFloat64 {
		schema[map[bool]string{false: "maximum", true: "exclusiveMaximum"}[b.openMax]] = b.max
	}
}
