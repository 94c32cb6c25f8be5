// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/privacy"
)

// NamedOperator is an operator that was given, as files name it: where its entries are is said again by who opens one.
type NamedOperator struct {
	Name   string         `json:"name"`
	Digest privacy.Digest `json:"digest,omitzero"` // zero: any, until it is loaded
}

// ErrOperator says that operators were not given, or are not those that a file was made with.
var ErrOperator = errors.New("graphcloak: given operator")

// maxOperators bounds how many operators are listed.
const maxOperators = 64

func checkOperators(list []NamedOperator) error {
	if len(list) > maxOperators {
		return fmt.Errorf("%w: there are %d, want at most %d", ErrOperator, len(list), maxOperators)
	}
	for _, o := range list {
		if o.Name == "" || len(o.Name) > maxAlternative || !isPrintable(o.Name) {
			return fmt.Errorf("%w: a name is empty, longer than %d bytes or not printable", ErrOperator, maxAlternative)
		}
	}
	return nil
}

// loadOperators reads the operators of these names, at the given sensors, nil for all, and returns the names with digests.
func loadOperators(ctx context.Context, g *graph.Graph, sensors []int, names []NamedOperator, opts LoadOptions) (
	[]NamedOperator, []*response.Operator, error,
) {
	switch {
	case len(names) == 0:
		return nil, nil, fmt.Errorf("%w: one was given, and the model has none", ErrOperator)
	case opts.Operators == nil:
		return nil, nil, fmt.Errorf("%w: the model has %d, such as %q, and none was given", ErrOperator, len(names), names[0].Name)
	}
	if err := checkOperators(names); err != nil {
		return nil, nil, err
	}
	b := response.NewBuilder(g, sensors)
	b.Guard = func(bytes int64) error { return opts.guard("the given operator", bytes) }
	if err := opts.Operators(ctx, b); err != nil {
		return nil, nil, fmt.Errorf("read operators: %w", err)
	}
	list, err := b.Build()
	if err != nil {
		return nil, nil, err
	}
	if len(list) != len(names) {
		return nil, nil, fmt.Errorf("%w: %d were given, the model has %d", ErrOperator, len(list), len(names))
	}
	loaded := slices.Clone(names)
	for k, o := range list {
		if want := names[k].Digest; want != (privacy.Digest{}) && want != o.Digest {
			return nil, nil, fmt.Errorf("%w: %q has the digest %.12s…, and the model was made with %q of digest %.12s…", ErrOperator,
				o.Name, privacy.Digest(o.Digest), names[k].Name, want)
		}
		o.Name, loaded[k].Digest = names[k].Name, o.Digest
	}
	return loaded, list, nil
}

// digestOf is that of operators in their order; zero of none.
func digestOf(list []*response.Operator) (d privacy.Digest) {
	if len(list) == 0 {
		return d
	}
	h := sha256.New()
	h.Write([]byte("graphcloak/operators/v1"))
	for _, o := range list {
		h.Write(o.Digest[:])
	}
	h.Sum(d[:0])
	return d
}

// givenRange returns the values that readings of given operators take for sources in [0, 1], rounded outwards.
func givenRange(list []*linop.Sparse) privacy.Interval {
	var r privacy.Interval
	for _, m := range list {
		rows, columns := m.Dims()
		low, high := make([]float64, rows), make([]float64, rows)
		for j := range columns {
			at, x := m.Column(j)
			for k, i := range at {
				low[i] += min(x[k], 0)
				high[i] += max(x[k], 0)
			}
		}
		wide := 1 + float64(columns+2)*0x1p-52
		for i := range low {
			r.Lo, r.Hi = min(r.Lo, low[i]*wide), max(r.Hi, high[i]*wide)
		}
	}
	if r.Lo < 0 {
		r.Lo = math.Nextafter(r.Lo, math.Inf(-1))
	}
	r.Hi = math.Nextafter(r.Hi, math.Inf(1))
	return r
}
