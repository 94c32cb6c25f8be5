// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/graph"
)

// CSV reads the files of a folder from any file system.
func ExampleCSV() {
	ctx := context.Background()
	csv := folder.CSV{FS: fstest.MapFS{
		"nodes.csv":         {Data: []byte("id,heat\nann,1\nbob,\ncid,0.25\n")},
		"relationships.csv": {Data: []byte("source,target,weight\nann,bob,2\nbob,cid,0.5\n")},
	}}
	g, err := csv.Graph(ctx, graph.Selection{RelationshipWeightProperty: "weight"})
	if err != nil {
		log.Fatal(err)
	}
	heat, err := csv.Signal(ctx, g, "heat")
	if err != nil {
		log.Fatal(err)
	}
	for e := range g.Edges() {
		fmt.Println(g.ID(e.U), "–", g.ID(e.V), "weight", e.Weight)
	}
	fmt.Println("heat", heat)
	// Output:
	// ann – bob weight 2
	// bob – cid weight 0.5
	// heat [1 NaN 0.25]
}
