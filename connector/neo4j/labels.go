// SPDX-License-Identifier: Apache-2.0

package neo4j

import "github.com/graphcloak/graphcloak/connector"

// Labels of GraphCloak's own nodes. A budget holds the account of a scope, an entry one link of its chain; both keep
// the JSON of package privacy as text, so that not one bit of it passes through the database's own types.
const (
	lockLabel   = "GraphCloakLock" // a transaction locks it before it reads and decides
	budgetLabel = "GraphCloakBudget"
	entryLabel  = "GraphCloakEntry"
	tickLabel   = "GraphCloakTick" // the record of a tick
	jobLabel    = "GraphCloakJob"  // what is kept of a job: whether it is paused, and since when it counts
)

// ownLabels are those of runs, the ledger and jobs.
var ownLabels = []string{connector.RunLabel, lockLabel, budgetLabel, entryLabel, tickLabel, jobLabel}

// labelled is the label expression of a selection. Without labels it is every node
// but GraphCloak's own: they are not the user's graph.
func labelled(labels []string) cypher {
	if len(labels) > 0 {
		return quoteAll(labels)
	}
	var own []cypher
	for _, l := range ownLabels {
		own = append(own, quote(l))
	}
	return ":!" + join(own, "&!")
}

// reservedNodes is the condition that n is one of GraphCloak's own records.
func reservedNodes() cypher {
	var parts []cypher
	for _, l := range ownLabels {
		parts = append(parts, "n:"+quote(l))
	}
	return join(parts, " OR ")
}
