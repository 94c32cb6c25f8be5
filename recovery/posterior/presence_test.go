// SPDX-License-Identifier: Apache-2.0

package posterior_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery/measurement"
	"github.com/graphcloak/graphcloak/recovery/posterior"
)

// under are the same measurements with each operator.
func under(y []float64, operators ...linop.Operator) (list []measurement.Data) {
	for _, a := range operators {
		list = append(list, measurement.Data{A: a, Y: y})
	}
	return list
}

// Whatever the number of operators, a source is found where there is none as often as is
// said, and where there is one under any of them: of 250 runs the shares of .05 and .2 are
// within .046 and .085 with probability above .999.
func TestPresenceErrsAsOftenAsItSays(t *testing.T) {
	var operators []linop.Operator
	for _, tau := range []float64{.1, 1, 5} {
		m := heatOn(12, tau)
		m.Scale(6, m)
		operators = append(operators, linop.Dense{M: m})
	}
	test := func(run int, y []float64) *posterior.Presence {
		opts := posterior.CheckOptions{Trials: 99, Seed: uint64(run)}
		return must.Get(posterior.NewPresence(t.Context(), under(y, operators...), opts))(t)
	}
	five, twenty := rates(250, func(run int) float64 {
		return test(run, heated(rand.New(rand.NewPCG(uint64(run), 5)), 12, 0, 6).Y).NoSource
	})
	if math.Abs(five-.05) > .046 || math.Abs(twenty-.2) > .085 {
		t.Errorf("without a source it is found in %v and %v, want .05 and .2", five, twenty)
	}
	y := make([]float64, 12)
	linop.ColumnsTo(operators[0], y, []int{4})
	if p := test(1, y); p.NoSource > .01 || p.LogPresence <= p.Threshold(.01) {
		t.Errorf("a clear source: %+v", *p)
	}
}

// The odds are the mean of those under each operator; with one they are that of the check,
// and so is all the rest, to the bit.
func TestPresenceIsTheMeanOfTheOdds(t *testing.T) {
	d := heated(rand.New(rand.NewPCG(2, 6)), 9, .6, 5)
	other := heatOn(9, 3)
	opts := posterior.CheckOptions{Trials: 19, Options: posterior.Options{Prior: []float64{1, 2, 0, 1, 1, 1, 3, 1, 1}}}
	c := must.Get(newCheck(t.Context(), d, opts))(t)
	p, err := posterior.NewPresence(t.Context(), under(d.Y, d.A), opts)
	if err != nil || p.LogPresence != c.LogPresence || p.NoSource != c.NoSource || !slices.Equal(p.Null, c.Null) {
		t.Errorf("%+v, want %+v (%v)", p, c.Presence, err)
	}
	o := must.Get(posterior.NewPresence(t.Context(), under(d.Y, linop.Dense{M: other}), opts))(t)
	p, err = posterior.NewPresence(t.Context(), under(d.Y, d.A, linop.Dense{M: other}), opts)
	if want := math.Log((math.Exp(c.LogPresence) + math.Exp(o.LogPresence)) / 2); err != nil || math.Abs(p.LogPresence-want) > 1e-12 {
		t.Errorf("log odds %v, want %v (%v)", p.LogPresence, want, err)
	}
}

func TestPresenceRefused(t *testing.T) {
	if _, err := posterior.NewPresence(t.Context(), under(nil), posterior.CheckOptions{}); !errors.Is(err, posterior.ErrInvalid) {
		t.Errorf("no operator: %v", err)
	}
}
