// SPDX-License-Identifier: Apache-2.0

// Package builtin holds the graphs that ship inside the program, and generators
// of others.
//
// Start with [Example] for a shipped graph and with [Parse] for a generated one.
// Both give a [Folder] of CSV files in the format of a folder store: nodes.csv
// with the column id, relationships.csv with the columns source and target, and
// any properties beside them.
package builtin

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed examples
var files embed.FS

var examples = []Folder{
	{
		Name: "company", Summary: "a made-up company: 180 people in six teams, 727 acquaintances, and a whisper", Community: "team",
		Heard: "heard", Caption: "name",
	},
	{Name: "karate", Summary: "Zachary's karate club: 34 members, 78 friendships, two clubs", Community: "club"},
	{Name: "net3", Summary: "EPANET example network 3: 97 nodes, 119 pipes, pumps and valves of a water network"},
	{Name: "paper-sbm", Summary: "stochastic block model of the paper's graph figure: 500 nodes, two communities", Community: "community"},
}

// paperSBM has the parameters of the paper's graph figure (5 % inside, 0.1 %
// across: the caption has them the wrong way round); with this seed it is connected.
const paperSBM = "sbm,n=500,k=2,in=0.05,out=0.001,seed=1"

// Names returns the names of the examples.
func Names() []string {
	names := make([]string, len(examples))
	for i, e := range examples {
		names[i] = e.Name
	}
	return names
}

// Example returns a shipped graph, by its name with or without "example:".
func Example(name string) (Folder, error) {
	name = strings.TrimPrefix(name, "example:")
	i := slices.IndexFunc(examples, func(e Folder) bool { return e.Name == name })
	if i < 0 {
		return Folder{}, unknown("example", name, Names())
	}
	e := examples[i]
	e.Name = "example:" + name
	var err error
	if name == "paper-sbm" {
		var g Generator
		if g, err = Parse(paperSBM); err == nil {
			e.FS, err = g.Folder()
		}
	} else {
		e.FS, err = fs.Sub(files, "examples/"+name)
	}
	return e, err
}
