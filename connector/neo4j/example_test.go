// SPDX-License-Identifier: Apache-2.0

package neo4j_test

import (
	"fmt"

	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/graph"
)

// What an administrator runs once, so that two clients cannot create one record twice.
func ExampleSetupConstraints() {
	for _, statement := range neo4j.SetupConstraints(graph.Selection{NodeLabels: []string{"Person"}, NodeKey: "email"})[:2] {
		fmt.Println(statement)
	}
	fmt.Println(neo4j.Quote("a`b"))
	// Output:
	// CREATE CONSTRAINT graphcloak_run IF NOT EXISTS FOR (n:`GraphCloakRun`) REQUIRE (n.`runId`) IS UNIQUE
	// CREATE CONSTRAINT graphcloak_lock IF NOT EXISTS FOR (n:`GraphCloakLock`) REQUIRE (n.`name`) IS UNIQUE
	// `a``b`
}
