// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// groupOf is the annotation that ties a flag to its group.
const groupOf = "graphcloak-group"

// flagValue keeps a flag as text: [Load] parses it, so that a bad flag is
// reported like a bad file, together with all other problems.
type flagValue struct {
	key, arg string
	text     []string
	list     bool
}

func (f *flagValue) String() string { return strings.Join(f.text, ",") }

func (f *flagValue) Type() string { return f.arg }

func (f *flagValue) Set(text string) error {
	if f.list {
		f.text = append(f.text, text)
		return nil
	}
	f.text = []string{text}
	return nil
}

func (f *flagValue) value() any {
	if f.list {
		return f.text
	}
	return f.text[0]
}

// AddFlags gives a flag set the flags of some groups. Defaults, by key, are the
// command's own; pass the same to [Layers].
func AddFlags(fs *pflag.FlagSet, defaults map[string]string, groups ...Group) {
	for _, s := range table() {
		if s.Flag == "" || !slices.Contains(groups, s.Group) {
			continue
		}
		value := &flagValue{key: s.Key, arg: s.placeholder(), list: s.Type() == "list"}
		f := fs.VarPF(value, s.Flag, s.Short, s.Help)
		f.DefValue = s.defaultIn(defaults)
		f.Annotations = map[string][]string{groupOf: {string(s.Group)}}
		if s.Type() == "boolean" {
			f.NoOptDefVal = "true"
		}
	}
}

func (s Setting) placeholder() string {
	switch {
	case s.arg != "":
		return s.arg
	case s.Values != nil:
		return strings.Join(s.Values, "|")
	case s.Type() == "boolean":
		return "bool" // pflag shows no placeholder then
	}
	return s.Type()
}

// Topic is a group of the flags of a set.
type Topic struct {
	Title string
	Flags []*pflag.Flag
}

// Topics groups the flags of a set, in the order of [Groups]; what belongs to no group
// comes first, as "Flags".
func Topics(fs *pflag.FlagSet) []Topic {
	sets := make(map[string][]*pflag.Flag)
	fs.VisitAll(func(f *pflag.Flag) {
		title := "Flags"
		if g := f.Annotations[groupOf]; g != nil {
			title = g[0]
		}
		if !f.Hidden && f.Name != "help" && f.Name != "help-all" { // who reads this has found them
			sets[title] = append(sets[title], f)
		}
	})
	var topics []Topic
	for _, g := range append([]Group{"Flags"}, Groups()...) {
		if flags := sets[string(g)]; flags != nil {
			topics = append(topics, Topic{Title: string(g), Flags: flags})
		}
	}
	return topics
}
