// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"hash/maphash"
	"slices"
	"unsafe"
)

// ID names a node: the user's key, never an internal number of a database.
type ID string

// compareIDs orders ids by length, then bytewise (shortlex).
func compareIDs(a, b ID) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

// list holds ids, one behind the other. What was appended never changes.
type list struct {
	text []byte
	ends []int64 // the id of number i is text[ends[i]:ends[i+1]]; empty: there is none
}

// Len returns the number of ids.
func (l *list) Len() int { return max(0, len(l.ends)-1) }

// At returns the id of a number.
func (l *list) At(i int) ID {
	text := l.text[l.ends[i]:l.ends[i+1]]
	return ID(unsafe.String(unsafe.SliceData(text), len(text)))
}

func (l *list) append(id ID) {
	if len(l.ends) == 0 {
		l.ends = append(l.ends, 0)
	}
	l.text = append(l.text, id...)
	l.ends = append(l.ends, int64(len(l.text)))
}

func (l *list) ascends() bool {
	for i := 1; i < l.Len(); i++ {
		if compareIDs(l.At(i-1), l.At(i)) >= 0 {
			return false
		}
	}
	return true
}

// sorted returns the ids in their order, and the new number of each old one; nil where they ascended already.
func (l *list) sorted() (list, []int32) {
	if l.ascends() {
		return *l, nil
	}
	order := make([]int32, l.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int { return compareIDs(l.At(int(x)), l.At(int(y))) })
	s := list{text: make([]byte, 0, len(l.text)), ends: make([]int64, 0, len(l.ends))}
	rank := make([]int32, len(order))
	for r, i := range order {
		rank[i] = int32(r)
		s.append(l.At(int(i)))
	}
	return s, rank
}

// IDs numbers distinct ids as they are added, at most 2³¹−1. It holds their bytes and 13 to 19 more for each. The zero value is empty.
type IDs struct {
	list
	slots []int32 // a hash table: the number of an id and 1, or 0
	seed  maphash.Seed
}

// Add adds an id, which is copied, and returns its number; or that of the same id, which was there.
func (s *IDs) Add(id ID) (number int, added bool) {
	if 4*(s.Len()+1) > 3*len(s.slots) {
		s.grow()
	}
	slot := s.slot(id)
	if n := s.slots[slot]; n > 0 {
		return int(n - 1), false
	}
	s.append(id)
	s.slots[slot] = int32(s.Len())
	return s.Len() - 1, true
}

// Index returns the number of an id.
func (s *IDs) Index(id ID) (int, bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	n := s.slots[s.slot(id)]
	return int(n) - 1, n > 0
}

// slot is where an id stands, or where it would.
func (s *IDs) slot(id ID) int {
	last := len(s.slots) - 1 // the number of slots is a power of 2
	k := int(maphash.String(s.seed, string(id))) & last
	for s.slots[k] > 0 && s.At(int(s.slots[k]-1)) != id {
		k = (k + 1) & last
	}
	return k
}

func (s *IDs) grow() {
	if len(s.slots) == 0 {
		s.seed = maphash.MakeSeed()
	}
	s.slots = make([]int32, max(16, 2*len(s.slots)))
	for i := range s.Len() {
		s.slots[s.slot(s.At(i))] = int32(i + 1)
	}
}
