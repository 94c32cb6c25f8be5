// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// Neo4j stores nodes in the order of their internal ids, so a range of
// ids is read fastest. Gaps in the range cost time: deleted ids, other labels,
// and storage formats that encode more than a sequence number in an id.

// sparse is the number of ids per node from which another way of reading is faster.
const sparse = 4

// extent returns the range of the internal ids of the nodes of a label expression. The index
// of labels is ordered by id: there, both ends are found at once.
func (s *Store) extent(ctx context.Context, label cypher) (ids span, err error) {
	end := func(order cypher) cypher {
		return "CALL () { MATCH (n" + label + ") RETURN id(n) AS " + order + " ORDER BY n " + order + " LIMIT 1 } "
	}
	err = s.read(ctx, "ids", func(tx *transaction) error {
		ids = span{}
		_, err := tx.rows(end("asc")+end("desc")+"RETURN asc, desc + 1", nil, func(r *neo4j.Record) error {
			ids.lo, _ = r.Values[0].(int64)
			ids.hi, _ = r.Values[1].(int64)
			return nil
		})
		return err
	})
	return ids, err
}

// places finds the number of a node by its internal id: in a table where the ids
// are dense.
type places struct {
	lo     int64
	dense  []int32         // number + 1
	sparse map[int64]int32 // number + 1
}

func newPlaces(internal []int64) *places {
	p := &places{}
	if len(internal) == 0 {
		return p
	}
	lo, hi := internal[0], internal[0]
	for _, id := range internal {
		lo, hi = min(lo, id), max(hi, id)
	}
	if p.lo = lo; uint64(hi-lo) < 8*uint64(len(internal)) { // the difference may exceed int64
		p.dense = make([]int32, hi-lo+1)
	} else {
		p.sparse = make(map[int64]int32, len(internal))
	}
	for k, id := range internal {
		if p.dense != nil {
			p.dense[id-lo] = int32(k) + 1
		} else {
			p.sparse[id] = int32(k) + 1
		}
	}
	return p
}

// numbers finds the numbers of a column of ids, −1 for those that were not selected.
// The table is larger than a cache: a short loop has many reads under way at once.
func (p *places) numbers(column []any) []int32 {
	to := make([]int32, len(column))
	for k, v := range column {
		id, _ := v.(int64)
		if at := uint64(id - p.lo); at < uint64(len(p.dense)) {
			to[k] = p.dense[at]
		} else if p.sparse != nil {
			to[k] = p.sparse[id]
		}
		to[k]--
	}
	return to
}
