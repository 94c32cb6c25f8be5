// SPDX-License-Identifier: Apache-2.0

package recovery_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian/linop"
	"github.com/graphcloak/graphcloak/recovery"
)

// instance is a file of testdata/bpdn.
type instance struct {
	Name, Kind string
	N, M       int
	Y          []float64
	Eta        float64
	T, Tau     float64
	Edges      [][2]int
	Box        struct {
		Objective float64
		Support   []int
	}
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join("testdata", "bpdn", name)))(t)
	must.Do(t, json.Unmarshal(b, v))
}

// loaded caches operators: the graph of 500 nodes takes an eigendecomposition.
var loaded struct {
	sync.Mutex
	ops map[string]linop.Operator
}

func load(t testing.TB, name string) (instance, linop.Operator) {
	t.Helper()
	var in instance
	readJSON(t, name+".json", &in)
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.ops == nil {
		loaded.ops = map[string]linop.Operator{}
	}
	if op, ok := loaded.ops[name]; ok {
		return in, op
	}
	var op linop.Operator
	if in.Kind == "interval" {
		op = interval(in.M, in.N, in.T)
	} else {
		op = linop.Dense{M: heat(combinatorial(in.N, in.Edges), in.Tau)}
	}
	loaded.ops[name] = op
	return in, op
}

// interval is the heat kernel exp(−((i+1)/m − (j+1)/n)²/4T)/√(4πT).
func interval(m, n int, t float64) linop.Dense {
	a := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			u := float64(i+1)/float64(m) - float64(j+1)/float64(n)
			a.Set(i, j, math.Exp(-u*u/(4*t))/math.Sqrt(4*math.Pi*t))
		}
	}
	return linop.Dense{M: a}
}

func combinatorial(n int, edges [][2]int) *mat.SymDense {
	l := mat.NewSymDense(n, nil)
	for _, e := range edges {
		u, v := e[0], e[1]
		l.SetSym(u, v, l.At(u, v)-1)
		l.SetSym(u, u, l.At(u, u)+1)
		l.SetSym(v, v, l.At(v, v)+1)
	}
	return l
}

// heat is e^{−τL} by eigendecomposition.
func heat(l *mat.SymDense, tau float64) *mat.Dense {
	w, v := eigen(l)
	for i, x := range w {
		w[i] = math.Exp(-tau * x)
	}
	return compose(w, v)
}

func eigen(l *mat.SymDense) ([]float64, *mat.Dense) {
	var es mat.EigenSym
	if !es.Factorize(l, true) {
		panic("eigendecomposition failed")
	}
	v := new(mat.Dense)
	es.VectorsTo(v)
	return es.Values(nil), v
}

// compose is V diag(w) Vᵀ.
func compose(w []float64, v *mat.Dense) *mat.Dense {
	var vw, out mat.Dense
	vw.Mul(v, mat.NewDiagDense(len(w), w))
	out.Mul(&vw, v.T())
	return &out
}

// solvers are all ways to hold the columns.
func solvers() map[string]recovery.ColumnGeneration {
	return map[string]recovery.ColumnGeneration{
		"columnGeneration": {},
		"columns held":     recovery.Normal(1 << 40),
		"columns dropped":  recovery.Normal(4 << 10), // after some
		"no columns":       recovery.Normal(-1),
	}
}

func TestReferenceInstances(t *testing.T) {
	for _, name := range []string{"ui100_c0.01", "ui100_c0.1", "ui100_c0.5", "sbm500_c0.1"} {
		in, op := load(t, name)
		for solver, s := range solvers() {
			want := in.Box.Objective
			p := recovery.Problem{A: op, Y: in.Y, Radius: in.Eta}
			res, err := s.Solve(t.Context(), p)
			if err != nil || res.Status != recovery.Optimal {
				t.Errorf("%s %s: %v, %+v", solver, name, err, short(res))
				continue
			}
			if math.Abs(res.Objective-want) > 1e-8*want {
				t.Errorf("%s %s: objective %.12g, want %.12g", solver, name, res.Objective, want)
			}
			certified(t, solver+" "+name, p, res)
		}
	}
}

func TestEdgeCases(t *testing.T) {
	var cases []struct {
		Name, Base string
		Box        bool
		Eta        float64
		Y          []float64
		Expect     string
		Obj        float64
		LowerBound float64 `json:"lower_bound"`
		Farkas     float64
	}
	readJSON(t, "edge_cases.json", &cases)
	if len(cases) != 42 {
		t.Fatalf("%d edge cases, want 42", len(cases))
	}
	for solver, s := range solvers() {
		for _, c := range cases {
			if !c.Box { // the reference's other half has no upper bound
				continue
			}
			_, op := load(t, c.Base)
			p := recovery.Problem{A: op, Y: c.Y, Radius: c.Eta}
			label := solver + " " + c.Base + " " + c.Name
			res, err := s.Solve(t.Context(), p)
			if err != nil {
				t.Errorf("%s: %v, %+v", label, err, short(res))
				continue
			}
			want, tol := map[string]recovery.Status{
				"ok": recovery.Optimal, "zero": recovery.Zero,
				"infeasible": recovery.Infeasible, "stalled": recovery.Infeasible,
			}[c.Expect], 1e-8
			if strings.Contains(c.Name, "tiny eta") {
				tol = 1e-6
			}
			if res.Status != want {
				t.Errorf("%s: %+v, want %v", label, short(res), want)
				continue
			}
			// The reference's own interval is part of the tolerance.
			if want == recovery.Optimal && math.Abs(res.Objective-c.Obj) > tol*c.Obj+math.Abs(c.Obj-c.LowerBound) {
				t.Errorf("%s: objective %.12g, want %.12g", label, res.Objective, c.Obj)
			}
			if c.Expect == "infeasible" && res.Margin < 0.5*c.Farkas {
				t.Errorf("%s: margin %g, the reference proves %g", label, res.Margin, c.Farkas)
			}
			certified(t, label, p, res)
		}
	}
}

func short(r *recovery.Result) any {
	if r == nil {
		return nil
	}
	c := *r
	c.F, c.Dual = nil, nil
	return c
}

// certified checks a result by the definitions alone.
func certified(t *testing.T, label string, p recovery.Problem, res *recovery.Result) {
	t.Helper()
	m, _ := p.A.Dims()
	r, mass := make([]float64, m), 0.0
	p.A.MulVecTo(r, false, res.F)
	norm, ynorm := 0.0, 0.0
	for i := range r {
		norm += (p.Y[i] - r[i]) * (p.Y[i] - r[i])
		ynorm += p.Y[i] * p.Y[i]
	}
	norm, ynorm = math.Sqrt(norm), math.Sqrt(ynorm)
	for i, f := range res.F {
		if !(f >= 0 && f <= 1) {
			t.Errorf("%s: f[%d] = %v is outside the box", label, i, f)
		}
		mass += f
	}
	if res.Status == recovery.Infeasible {
		d, err := p.Distance(res.Dual)
		if err != nil || !(d > p.Radius) {
			t.Errorf("%s: the dual vector proves a distance of %v, want > %v (%v)", label, d, p.Radius, err)
		}
		return
	}
	if norm > p.Radius+1e-14*(ynorm+p.Radius) {
		t.Errorf("%s: residual %v, want ≤ %v", label, norm, p.Radius)
	}
	lb, err := p.LowerBound(res.Dual)
	if err != nil || lb < res.LowerBound-1e-9*math.Abs(res.LowerBound) {
		t.Errorf("%s: the dual vector proves %v, claimed %v (%v)", label, lb, res.LowerBound, err)
	}
	if math.Abs(mass-res.Objective) > 1e-12*mass {
		t.Errorf("%s: mass %v, claimed %v", label, mass, res.Objective)
	}
}
