// SPDX-License-Identifier: Apache-2.0

package laplacian

import (
	"fmt"
	"slices"
	"sync"
)

// Kind is one of the three Laplacians.
type Kind int

// The kinds; the zero value is the paper's.
const (
	Combinatorial Kind = iota // D − W
	Normalized                // I − D^{-1/2} W D^{-1/2}
	RandomWalk                // I − D^{-1} W
)

var kindNames = []string{"combinatorial", "normalized", "randomWalk"}

func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKind(string(text))
	return err
}

// ParseKind reads combinatorial, normalized or randomWalk.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames, s); i >= 0 {
		return Kind(i), nil
	}
	return 0, fmt.Errorf("laplacian: kind is %q, want one of %v", s, kindNames)
}

// Laplacian is an n × n operator, immutable and safe for concurrent use.
// It shares the rows of its graph: beside them it holds the diagonal, and for the
// normalised kinds one weight an entry.
type Laplacian struct {
	kind          Kind
	ptr           []int64
	adj           []int32
	val           []float64 // B beside adj; nil: all 1
	diag          []float64 // a
	degrees       []float64
	similarity    []float64 // s of L = diag(1/s) S diag(s); nil: L = S
	bound         float64
	nullity       int
	roundingUnits float64
	rows          storedRows // S as Recur works on it
	cuts          []int32    // rows in pieces of similar work
	workers       int
	jobs          *sync.Pool
}

// storedRows is S = diag(a) − B, with its nodes renumbered to reduce the bandwidth
// where that makes products faster: neighbours are then close in memory.
type storedRows struct {
	ptr         []int64
	adj         []int32
	val         []float64
	diag        []float64
	permutation []int32 // row of each node; nil: its number
}

// Kind returns the kind.
func (l *Laplacian) Kind() Kind { return l.kind }

// Order returns n.
func (l *Laplacian) Order() int { return len(l.diag) }

// Dims returns n, n.
func (l *Laplacian) Dims() (r, c int) { return len(l.diag), len(l.diag) }

// Degrees returns the weighted degrees. The caller must not change them.
func (l *Laplacian) Degrees() []float64 { return l.degrees }

// Bound returns an upper bound on the largest eigenvalue, certified by the
// theorem of Collatz and Wielandt and rounded up; +Inf where degrees overflow.
func (l *Laplacian) Bound() float64 { return l.bound }

// Nullity returns the multiplicity of the eigenvalue 0: the number of connected
// components.
func (l *Laplacian) Nullity() int { return l.nullity }

// Similarity returns s > 0 with L = diag(1/s) S diag(s), or nil where L = S.
// The caller must not change it.
func (l *Laplacian) Similarity() []float64 { return l.similarity }

// CSR returns S = diag(a) − B as it is stored: row i of B is adj[ptr[i]:ptr[i+1]]
// with val beside it, or with ones where val is nil. The caller must not change
// the slices.
func (l *Laplacian) CSR() (ptr []int64, adj []int32, val, diag []float64) {
	return l.ptr, l.adj, l.val, l.diag
}

// Work returns the number of entries that a product reads.
func (l *Laplacian) Work() int64 { return int64(len(l.adj) + 2*len(l.diag)) }
