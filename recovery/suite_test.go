// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

func randomDense(rnd *rand.Rand, m, n int) linop.Dense {
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			a.Set(i, j, rnd.NormFloat64())
		}
	}
	return linop.Dense{M: a}
}

// randomProblem is a random instance; about a third are infeasible.
func randomProblem(rnd *rand.Rand) recovery.Problem {
	m, n := 1+rnd.IntN(20), 1+rnd.IntN(30)
	a := randomDense(rnd, m, n)
	f, y := make([]float64, n), make([]float64, m)
	for range 1 + rnd.IntN(4) {
		f[rnd.IntN(n)] = 1.2 * rnd.Float64()
	}
	a.MulVecTo(y, false, f)
	for i := range y {
		y[i] += 0.3 * rnd.NormFloat64()
	}
	p := recovery.Problem{A: a, Y: y, Radius: floats.Norm(y, 2) * math.Pow(10, -2*rnd.Float64())}
	if p.Radius == 0 {
		p.Radius = 1
	}
	return p
}

// The KKT conditions are sufficient: with z = λ⁻¹r, 0 < f_j < U needs (Mᵀz)_j = 1,
// f_j = 0 needs ≤ 1, f_j = U needs ≥ 1, and λ > 0 needs ‖r‖ = η.
func TestOptimalityConditions(t *testing.T) {
	const seed = 7
	for name, s := range solvers() {
		rnd := rand.New(rand.NewPCG(seed, 1))
		count := map[recovery.Status]int{}
		for trial := range 400 {
			p := randomProblem(rnd)
			res, err := s.Solve(t.Context(), p)
			if err != nil {
				t.Fatalf("%s seed %d trial %d: %v %+v", name, seed, trial, err, short(res))
			}
			count[res.Status]++
			certified(t, name, p, res)
			if res.Status != recovery.Optimal {
				continue
			}
			c := make([]float64, len(res.F))
			p.A.MulVecTo(c, true, res.Dual)
			if math.Abs(res.Residual-p.Radius) > 1e-8*p.Radius {
				t.Errorf("%s trial %d: ‖r‖ = %v, want η = %v", name, trial, res.Residual, p.Radius)
			}
			for j, f := range res.F {
				// 1e-6 is the square root of the gap, up to a constant.
				if bad := f > 1e-6 && c[j] < 1-1e-5 || f < 1-1e-6 && c[j] > 1+1e-5; bad {
					t.Errorf("%s trial %d: f[%d] = %v with (Mᵀz)_j = %v", name, trial, j, f, c[j])
				}
			}
		}
		t.Logf("%s: %v", name, count)
		if count[recovery.Optimal] < 100 || count[recovery.Infeasible] < 20 {
			t.Errorf("%s: outcomes %v, want at least 100 optimal and 20 infeasible", name, count)
		}
	}
}

// exactBound is g(z) in rational arithmetic, but for the two norms.
func exactBound(p recovery.Problem, z []float64) float64 {
	a := p.A.(linop.Dense).M
	m, n := a.Dims()
	num := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	mul := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	g, sq := new(big.Rat), new(big.Rat)
	for s := range m {
		g.Add(g, mul(num(p.Y[s]), num(z[s])))
		sq.Add(sq, mul(num(z[s]), num(z[s])))
	}
	norm := new(big.Float).SetPrec(300).SetRat(sq)
	norm.Sqrt(norm)
	up, _ := norm.Rat(nil)
	g.Sub(g, mul(num(p.Radius), up))
	for j := range n {
		w := num(1)
		for s := range m {
			w.Sub(w, mul(num(a.At(s, j)), num(z[s])))
		}
		if w.Sign() < 0 {
			g.Add(g, w)
		}
	}
	v, _ := g.Float64()
	return v
}

// The bound that is reported never exceeds the exact value of the dual vector, for
// random vectors as for those of a solver.
func TestBoundAgainstRationals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for trial := range 200 {
		p := randomProblem(rnd)
		z := make([]float64, len(p.Y))
		for i := range z {
			z[i] = rnd.NormFloat64() * math.Pow(10, 4*rnd.Float64()-2)
		}
		vectors := [][]float64{z}
		if res, err := (recovery.ColumnGeneration{}).Solve(t.Context(), p); err == nil && res.Status == recovery.Optimal {
			vectors = append(vectors, res.Dual)
			if exact := exactBound(p, res.Dual); res.LowerBound > exact {
				t.Errorf("trial %d: reported bound %.17g, exactly %.17g", trial, res.LowerBound, exact)
			}
		}
		for _, z := range vectors {
			got, err := p.LowerBound(z)
			if exact := exactBound(p, z); err != nil || got > exact || got < exact-1e-10*(1+math.Abs(exact)) {
				t.Errorf("trial %d: LowerBound = %.17g, exactly %.17g (%v)", trial, got, exact, err)
			}
		}
	}
}

// The certificate is for every operator within the declared error.
type blurred struct {
	linop.Dense
	d float64
}

func (b blurred) Err() float64 { return b.d }

func TestOperatorErrorIsCharged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 1))
	for name, s := range solvers() {
		optimal := 0
		s.Tol = 1e-5
		for trial := range 60 {
			p := randomProblem(rnd)
			truth := p.A.(linop.Dense)
			m, n := truth.Dims()
			// A rank-one perturbation has norm d exactly.
			u, v := make([]float64, m), make([]float64, n)
			for i := range u {
				u[i] = rnd.NormFloat64()
			}
			for j := range v {
				v[j] = rnd.NormFloat64()
			}
			d := 1e-9
			var e mat.Dense
			e.Outer(d/(floats.Norm(u, 2)*floats.Norm(v, 2)), mat.NewVecDense(m, u), mat.NewVecDense(n, v))
			e.Add(&e, truth.M)
			exact := p
			want := must.Get(recovery.ColumnGeneration{}.Solve(t.Context(), exact))(t)
			p.A = blurred{linop.Dense{M: &e}, d * (1 + 1e-6)}
			res, err := s.Solve(t.Context(), p)
			if err != nil && !errors.Is(err, recovery.ErrStalled) {
				t.Fatalf("%s trial %d: %v", name, trial, err)
			}
			if res.Status == recovery.Infeasible && want.Status != recovery.Infeasible {
				t.Errorf("%s trial %d: infeasible, the exact problem is %v", name, trial, want.Status)
			}
			if res.Status != recovery.Optimal || want.Status != recovery.Optimal {
				continue
			}
			optimal++
			if res.LowerBound > want.Objective {
				t.Errorf("%s trial %d: bound %v, the exact optimum is %v", name, trial, res.LowerBound, want.Objective)
			}
			r := make([]float64, m)
			truth.MulVecTo(r, false, res.F)
			floats.SubTo(r, exact.Y, r)
			if norm := floats.Norm(r, 2); norm > exact.Radius*(1+1e-14)+1e-14*floats.Norm(exact.Y, 2) {
				t.Errorf("%s trial %d: exact residual %.17g, want ≤ %.17g", name, trial, norm, exact.Radius)
			}
		}
		if optimal < 20 {
			t.Errorf("%s: %d optimal, want ≥ 20", name, optimal)
		}
	}
}

func TestStops(t *testing.T) {
	in, op := load(t, "ui100_c0.01")
	p := recovery.Problem{A: op, Y: in.Y, Radius: in.Eta}
	for name, s := range solvers() {
		if res, err := recovery.Iterations(s, 1).Solve(t.Context(), p); !errors.Is(err, recovery.ErrStalled) || res == nil ||
			res.Status != recovery.Stalled {
			t.Errorf("%s: one iteration gives %v, %v, want stalled", name, short(res), err)
		} else if res.Objective > 0 && res.LowerBound > in.Box.Objective {
			t.Errorf("%s: stalled with bound %v, optimum %v", name, res.LowerBound, in.Box.Objective)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Solve(ctx, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled before: %v", name, err)
		}
		// Cancelled by the third product: the run may use few more.
		ctx, cancel = context.WithCancel(t.Context())
		counted := &counter{Operator: op, at: 3, cancel: cancel}
		if _, err := s.Solve(ctx, recovery.Problem{A: counted, Y: in.Y, Radius: in.Eta}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled within: %v", name, err)
		}
		if n := counted.n.Load(); n > 3+64 {
			t.Errorf("%s: %d products after the cancellation", name, n-3)
		}
		var stages int
		s.Progress = func(string, int64, int64) { stages++ }
		if _, err := s.Solve(t.Context(), p); err != nil || stages == 0 {
			t.Errorf("%s: %d progress calls, %v", name, stages, err)
		}
	}
}

// counter cancels at a product.
type counter struct {
	linop.Operator
	n      atomic.Int64
	at     int64
	cancel func()
}

func (c *counter) MulVecTo(dst []float64, trans bool, x []float64) {
	if c.n.Add(1) == c.at {
		c.cancel()
	}
	c.Operator.MulVecTo(dst, trans, x)
}

func TestDegenerateProblems(t *testing.T) {
	dense := func(m, n int, v ...float64) linop.Dense { return linop.Dense{M: mat.NewDense(m, n, v)} }
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		p       recovery.Problem
		want    recovery.Status
		obj     float64
		invalid bool
	}{
		{name: "NaN", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{nan}, Radius: 1}, invalid: true},
		{name: "Inf", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{inf}, Radius: 1}, invalid: true},
		{name: "radius 0", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{1}}, invalid: true},
		{name: "radius -1", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{1}, Radius: -1}, invalid: true},
		{name: "radius NaN", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{1}, Radius: nan}, invalid: true},
		{name: "radius Inf", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{1}, Radius: inf}, invalid: true},
		{name: "no operator", p: recovery.Problem{Y: []float64{1}, Radius: 1}, invalid: true},
		{name: "two for one", p: recovery.Problem{A: dense(1, 1, 1), Y: []float64{1, 2}, Radius: 1}, invalid: true},
		{name: "y=0", p: recovery.Problem{A: dense(1, 2, 1, 1), Y: []float64{0}, Radius: 0.1}, want: recovery.Zero},
		{
			name: "n=1", p: recovery.Problem{A: dense(2, 1, 1, 1), Y: []float64{1, 1}, Radius: math.Sqrt2 / 2},
			want: recovery.Optimal, obj: 0.5,
		},
		{name: "n=1 infeasible", p: recovery.Problem{A: dense(2, 1, 1, 1), Y: []float64{1, -1}, Radius: 1}, want: recovery.Infeasible},
		{
			name: "one sensor", p: recovery.Problem{A: dense(1, 3, 0.5, 2, 1), Y: []float64{1.5}, Radius: 0.5},
			want: recovery.Optimal, obj: 0.5,
		},
		{
			name: "one sensor, at the bound", p: recovery.Problem{A: dense(1, 3, 0.5, 2, 1), Y: []float64{3.5}, Radius: 0.25},
			want: recovery.Optimal, obj: 2.5,
		},
		{name: "all zero", p: recovery.Problem{A: dense(2, 2, 0, 0, 0, 0), Y: []float64{1, 1}, Radius: 1}, want: recovery.Infeasible},
		{
			name: "a zero column", p: recovery.Problem{A: dense(2, 2, 0, 1, 0, 1), Y: []float64{1, 1}, Radius: math.Sqrt2 / 2},
			want: recovery.Optimal, obj: 0.5,
		},
		{
			name: "duplicates", p: recovery.Problem{A: dense(2, 3, 1, 1, 1, 1, 1, 1), Y: []float64{1.5, 1.5}, Radius: math.Sqrt2 / 4},
			want: recovery.Optimal, obj: 1.25,
		},
		{
			name: "exactly everything", p: recovery.Problem{A: dense(1, 2, 1, 1), Y: []float64{3}, Radius: 1 + 1e-9},
			want: recovery.Optimal, obj: 2,
		},
		{name: "a hair too far", p: recovery.Problem{A: dense(1, 2, 1, 1), Y: []float64{3}, Radius: 1 - 1e-9}, want: recovery.Infeasible},
	} {
		for name, s := range solvers() {
			res, err := s.Solve(t.Context(), c.p)
			if c.invalid {
				if !errors.Is(err, recovery.ErrInvalid) {
					t.Errorf("%s %s: %v, want invalid", name, c.name, err)
				}
				continue
			}
			if err != nil || res.Status != c.want || res.Status == recovery.Optimal && math.Abs(res.Objective-c.obj) > 2e-9 {
				t.Errorf("%s %s: %v, %+v, want %v %v", name, c.name, err, short(res), c.want, c.obj)
				continue
			}
			certified(t, name+" "+c.name, c.p, res)
		}
	}
}

// From 1,000 sensors on the normal equations are tried first: they serve where the
// columns are well conditioned, and hand over where they are not.
func TestManySensors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 1))
	well := randomDense(rnd, 1000, 1200)
	ill := interval(1000, 300, 0.05)
	for name, op := range map[string]linop.Dense{"well conditioned": well, "ill conditioned": ill} {
		for _, scale := range []float64{.3, 1} { // entries of f at 1 or below
			y := noisy(op, 8, 0.05, 2)
			floats.Scale(scale, y)
			p := recovery.Problem{A: op, Y: y, Radius: 0.055 * floats.Norm(y, 2)}
			want, err := recovery.Normal(-1).Solve(t.Context(), p)
			if err != nil {
				t.Fatalf("%s, scale %v: %v %+v", name, scale, err, short(want))
			}
			got, err := recovery.ColumnGeneration{}.Solve(t.Context(), p)
			if err != nil || got.Status != want.Status || math.Abs(got.Objective-want.Objective) > 1e-9*want.Objective {
				t.Errorf("%s, scale %v: %v %+v, want %+v", name, scale, err, short(got), short(want))
				continue
			}
			certified(t, name, p, got)
		}
	}
}

// Where ill conditioned columns need more memory than there is for them, the best iterate comes without a certificate, and
// its bounds hold.
func TestNoRoom(t *testing.T) {
	op := interval(1000, 300, 0.05)
	y := noisy(op, 8, 0.05, 2)
	p := recovery.Problem{A: op, Y: y, Radius: 0.055 * floats.Norm(y, 2)}
	for name, g := range map[string]recovery.ColumnGeneration{"Gram matrix first": {}, "products": recovery.Normal(-1)} {
		want, err := g.Solve(t.Context(), p)
		must.Do(t, err)
		before := 0
		for _, vectors := range []int{1, 25} {
			got, err := recovery.Room(g, vectors).Solve(t.Context(), p)
			if got == nil || got.Iterations <= before { // more room serves for more steps
				t.Errorf("%s, room for %d: %+v, want more than %d iterations", name, vectors, short(got), before)
				continue
			}
			before = got.Iterations
			if !errors.Is(err, recovery.ErrStalled) || got.LowerBound > want.Objective*(1+1e-9) {
				t.Errorf("%s, room for %d: %v, %+v, want stalled, below %v", name, vectors, err, short(got), want.Objective)
			}
		}
	}
}

// noisy is y = M f₀ + noise of length level·‖M f₀‖ for k unit sources.
func noisy(op linop.Operator, k int, level float64, seed uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed, 0))
	m, n := op.Dims()
	f, y := make([]float64, n), make([]float64, m)
	for range k {
		f[rnd.IntN(n)] = 1
	}
	op.MulVecTo(y, false, f)
	e := make([]float64, m)
	for i := range e {
		e[i] = rnd.NormFloat64()
	}
	floats.AddScaled(y, level*floats.Norm(y, 2)/floats.Norm(e, 2), e)
	return y
}

// Sums over two million nodes whose roundings all point the same way: the bound stays
// below its exact value, and a problem that f = 1 solves is not called infeasible.
func TestLongSumsRoundDown(t *testing.T) {
	const n, c = 1 << 21, 2 + 0x1p-34
	row := make([]float64, n)
	for i := range row {
		row[i] = c
	}
	p := recovery.Problem{
		A: linop.Dense{M: mat.NewDense(1, n, row)}, Y: []float64{n*c + 1 - 1e-5}, Radius: 1,
	}
	bound := must.Get(p.LowerBound([]float64{1}))(t)
	precise := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	exact := precise(1 - c)
	exact.Mul(exact, precise(n))
	exact.Add(exact, precise(p.Y[0]-1))
	if precise(bound).Cmp(exact) > 0 {
		t.Errorf("bound %v, exactly %v", bound, exact)
	}
	distance, err := p.Distance([]float64{1})
	if err != nil || distance > 1 {
		t.Errorf("distance at least %v (%v), but f = 1 is within 1", distance, err)
	}
}

// hardProblem is smooth to the point of numerical rank 1, or has duplicate and zero
// columns, or ties, over twelve orders of scale and five of η.
func hardProblem(rnd *rand.Rand) recovery.Problem {
	m, n := 1+rnd.IntN(40), 1+rnd.IntN(80)
	var a linop.Dense
	switch rnd.IntN(4) {
	case 0:
		a = randomDense(rnd, m, n)
	case 1:
		a = interval(m, n, math.Pow(10, -3+3*rnd.Float64()))
	case 2:
		a = randomDense(rnd, m, n)
		for j := range n {
			from, factor := rnd.IntN(n), float64(rnd.IntN(6))
			if factor > 1 {
				continue
			}
			for i := range m {
				a.M.Set(i, j, factor*a.M.At(i, from))
			}
		}
	default:
		a = randomDense(rnd, m, n)
		for i := range m {
			for j := range n {
				a.M.Set(i, j, float64(rnd.IntN(3)))
			}
		}
	}
	scale := math.Pow(10, 12*rnd.Float64()-6)
	floats.Scale(scale, a.M.RawMatrix().Data)
	f, y := make([]float64, n), make([]float64, m)
	for range 1 + rnd.IntN(5) {
		f[rnd.IntN(n)] = float64(rnd.IntN(3)) / 2
	}
	a.MulVecTo(y, false, f)
	noise := 0.2 * scale * float64(rnd.IntN(2))
	for i := range y {
		y[i] += noise * rnd.NormFloat64()
	}
	return recovery.Problem{A: a, Y: y, Radius: floats.Norm(y, 2)*math.Pow(10, -5*rnd.Float64()) + 1e-300}
}

// Column generation settles every one of them. The other two may stall here, and
// say so; what any two prove is never in contradiction.
func TestHardProblems(t *testing.T) {
	const trials = 600
	rnd := rand.New(rand.NewPCG(104, 1))
	stalled := map[string]int{}
	for trial := range trials {
		p := hardProblem(rnd)
		want, err := recovery.ColumnGeneration{}.Solve(t.Context(), p)
		if err != nil {
			t.Errorf("trial %d: %v %+v", trial, err, short(want))
			continue
		}
		for name, s := range solvers() {
			got, err := s.Solve(t.Context(), p)
			if errors.Is(err, recovery.ErrStalled) {
				stalled[name]++
				if want.Status == recovery.Optimal && got.LowerBound > want.Objective*(1+1e-9) {
					t.Errorf("trial %d: %s proves %v, the optimum is %v", trial, name, got.LowerBound, want.Objective)
				}
				continue
			}
			if err != nil || got.Status != want.Status {
				t.Errorf("trial %d: %s %v %+v, want %+v", trial, name, err, short(got), short(want))
			} else if math.Abs(got.Objective-want.Objective) > (1e-9+got.Gap+want.Gap)*want.Objective && got.Status == recovery.Optimal {
				t.Errorf("trial %d: %s %v, want %v", trial, name, got.Objective, want.Objective)
			}
		}
	}
	t.Logf("stalled: %v of %d", stalled, trials)
	for name, k := range stalled {
		if k > trials/25 {
			t.Errorf("%s stalled %d times in %d", name, k, trials)
		}
	}
}
