// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/jobs"
)

// shared content: the label that every node of a store under test carries.
type labelled struct {
	*neo4j.Store
	label string
}

// TestStore is the contract of a store, with that of jobs. Labels of the
// fixture carry the token of their store, for the database is shared.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Suite{
		Open: func(t *testing.T, nodes, relationships string) storetest.Store {
			csv := Files(nodes, relationships)
			label := Load(t, csv)
			for _, l := range []string{"Sensor", "City", "Village"} {
				Query(t, "MATCH (n:`"+label+"`:"+l+") REMOVE n:"+l+" SET n:`"+label+l+"`", nil)
			}
			return labelled{connect(t), label}
		},
		Select: func(s storetest.Store, sel graph.Selection) graph.Selection {
			label := s.(labelled).label
			if len(sel.NodeLabels) == 0 {
				sel.NodeLabels = []string{label}
			} else {
				names := make([]string, len(sel.NodeLabels))
				for i, l := range sel.NodeLabels {
					names[i] = label + l
				}
				sel.NodeLabels = names
			}
			if sel.NodeKey == "" {
				sel.NodeKey = "id"
			}
			return sel
		},
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			return labelled{connect(t), s.(labelled).label}
		},
		Alias: func(t *testing.T, s storetest.Store) storetest.Store {
			return labelled{connect(t, func(o *neo4j.Options) { o.URI = "bolt://" + relay(t, "127.0.0.1:0") }), s.(labelled).label}
		},
		History: func(s storetest.Store) jobs.History { return s.(labelled).History() },
		Jobs:    func(s storetest.Store) jobs.Store { return s.(labelled).Jobs() },
	})
}
