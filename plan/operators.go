// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/graphcloak/graphcloak/analyst"
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

// loadOperators reads the operators that the settings name. Their rows are the sensors.
func (m *Model) loadOperators(ctx context.Context) error {
	names := m.Settings.Operators
	if err := checkOperators(names); err != nil {
		return err
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("%w: one was given, and the model has none", ErrOperator)
	case m.Settings.Answers:
		return fmt.Errorf("%w: people who answer yes or no have none", ErrOperator)
	case m.opts.Operators == nil:
		return fmt.Errorf("%w: the model has %d, such as %q, and none was given", ErrOperator, len(names), names[0].Name)
	}
	sensors := m.Sensors
	if m.Settings.Public.Sensors == (graph.SensorSelection{}) {
		sensors = nil
	}
	b := response.NewBuilder(m.Graph, sensors)
	b.Guard = func(bytes int64) error { return m.opts.guard("the given operator", bytes) }
	if err := m.opts.Operators(ctx, b); err != nil {
		return fmt.Errorf("read operators: %w", err)
	}
	list, err := b.Build()
	if err != nil {
		return err
	}
	if len(list) != len(names) {
		return fmt.Errorf("%w: %d were given, the model has %d", ErrOperator, len(list), len(names))
	}
	loaded, h := make([]NamedOperator, len(list)), sha256.New()
	h.Write([]byte("graphcloak/operators/v1"))
	for k, o := range list {
		if want := names[k].Digest; want != (privacy.Digest{}) && want != o.Digest {
			return fmt.Errorf("%w: %q has the digest %.12s…, and the model was made with %q of digest %.12s…", ErrOperator, o.Name,
				privacy.Digest(o.Digest), names[k].Name, want)
		}
		loaded[k] = NamedOperator{Name: names[k].Name, Digest: o.Digest}
		o.Name = names[k].Name
		if k > 0 {
			h.Write(o.Digest[:])
			m.listed.operators = append(m.listed.operators, o)
		}
	}
	if len(list) > 1 {
		h.Sum(m.listed.digest[:0])
	}
	m.Settings.Operators = loaded
	m.Sensors = make([]int, len(list[0].Readings))
	for k := range m.Sensors {
		m.Sensors[k] = k
	}
	m.Operator = &analyst.Operator{Graph: m.Graph, Given: list[0], Guard: m.opts.guard, Progress: m.opts.Progress}
	return nil
}

// given lists the operators in place of e^{-τL}; nil: none is given.
func (m *Model) given() (list []*linop.Sparse) {
	if m.Operator == nil || m.Operator.Given == nil {
		return nil
	}
	list = append(list, m.Operator.Given.Sparse)
	for _, o := range m.listed.operators {
		list = append(list, o.Sparse)
	}
	return list
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
	r.Lo, r.Hi = math.Nextafter(r.Lo, math.Inf(-1)), math.Nextafter(r.Hi, math.Inf(1))
	if r.Lo > -math.SmallestNonzeroFloat64*2 {
		r.Lo = 0
	}
	return r
}
