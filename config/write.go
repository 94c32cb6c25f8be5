// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Entry is one line of a listing. Secrets are masked.
type Entry struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Layer  Layer  `json:"layer"`
	Origin string `json:"origin"`
	Group  Group  `json:"-"`
}

// Entries lists every setting in the order of the table.
func (c *Config) Entries() []Entry {
	var list []Entry
	for _, s := range table() {
		o := c.origins[s.Key]
		list = append(list, Entry{s.Key, c.raw[s.Key], o.Layer, o.String(), s.Group})
	}
	return list
}

// Line is a setting as a file holds it.
type Line struct {
	Key   string
	Value any // as [Entry] has it
}

// WriteFile writes settings as a YAML file that [Load] reads back, in the order of the table.
// What a file may not hold is an error, and so is a key that is no setting.
func WriteFile(w io.Writer, lines []Line) error {
	file := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range table() {
		k := slices.IndexFunc(lines, func(l Line) bool { return l.Key == s.Key })
		if k < 0 {
			continue
		}
		if s.noFile || s.Secret() {
			return fmt.Errorf("config: a file holds no %s", s.Key)
		}
		value := new(yaml.Node)
		if err := value.Encode(lines[k].Value); err != nil {
			return fmt.Errorf("config: write %s: %w", s.Key, err)
		}
		file.Content = append(file.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: s.Key}, value)
	}
	if len(file.Content) != 2*len(lines) {
		return fmt.Errorf("config: %d of %d lines are no settings, or there twice", len(lines)-len(file.Content)/2, len(lines))
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(file); err != nil {
		return fmt.Errorf("config: write: %w", err)
	}
	if err := e.Close(); err != nil {
		return fmt.Errorf("config: write: %w", err)
	}
	_, err := w.Write(text.Bytes())
	return err
}
