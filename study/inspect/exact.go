// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// fromEigenpairs fills in what follows from all eigenpairs.
func (in *Inspection) fromEigenpairs(m sensitivity.Model, s *expm.Spectrum) {
	lambda, n := s.Lambda(), m.Graph.Order()
	in.EigenvalueError, in.LambdaMax = s.BackwardError(), lambda[n-1]
	if in.Lambda2 = &lambda[1]; s.Nullity() > 1 {
		in.Lambda2 = new(float64)
	}
	in.leverage(m, s)
	if !symmetric(m) {
		in.fromSingularValues(m, s)
		return
	}
	in.Kappa2Log10 = pointer(m.Tau * lambda[n-1] / math.Ln10)
	in.EffectiveRank = pointer(effectiveRank(s.Decay(m.Tau)))
	in.coherence(m, s.Kernel(2*m.Tau, 0))
	if m.Laplacian.Kind() == laplacian.Combinatorial {
		in.massError(s.Kernel(m.Tau, 0))
	}
}

// effectiveRank is e^H of singular values, which need not be sorted.
func effectiveRank(values []float64) float64 {
	total, h := floats.Sum(values), 0.0
	for _, v := range values {
		if p := v / total; p > 0 {
			h -= p * math.Log(p)
		}
	}
	return math.Exp(h)
}

// coherence is computed from h = MᵀM.
func (in *Inspection) coherence(m sensitivity.Model, h *mat.Dense) {
	n, _ := h.Dims()
	root := make([]float64, n)
	for i := range root {
		root[i] = math.Sqrt(h.At(i, i))
	}
	best, pair := -1.0, [2]int{}
	for i := range n {
		row := h.RawRowView(i)
		for j := range i {
			if v := row[j] / (root[i] * root[j]); v > best { // no NaN, of a column of zeros
				best, pair = v, [2]int{j, i}
			}
		}
	}
	if best < 0 { // at most one column has an entry
		return
	}
	c := &Coherence{Value: min(1, best)}
	c.Nodes[0], c.Nodes[1] = m.Graph.ID(pair[0]), m.Graph.ID(pair[1])
	in.Coherence = c
}

// massError is the largest deviation of a computed column sum of e^{-τL} from 1.
func (in *Inspection) massError(k *mat.Dense) {
	worst := 0.0
	n, _ := k.Dims()
	for i := range n {
		worst = max(worst, math.Abs(floats.SumCompensated(k.RawRowView(i))-1)) // k is symmetric
	}
	in.MassError = &worst
}

// topScores is the number of leverage scores that are listed, of leadingVectors eigenvectors at most.
const (
	topScores      = 5
	leadingVectors = 10
)

func (in *Inspection) leverage(m sensitivity.Model, s *expm.Spectrum) {
	v, k := s.Vectors(), min(leadingVectors, m.Graph.Order())
	scores := make([]LeverageScore, m.Graph.Order())
	for i := range scores {
		sum := 0.0
		for q := range k {
			sum += v.At(q, i) * v.At(q, i)
		}
		scores[i] = LeverageScore{m.Graph.ID(i), sum}
	}
	slices.SortStableFunc(scores, func(a, b LeverageScore) int { return cmp.Compare(b.Score, a.Score) })
	in.Leverage = &Leverage{Vectors: k, Top: scores[:min(topScores, len(scores))]}
}

// maxEntries bounds m·n where singular values are computed from the entries.
const maxEntries = 4_000_000

// fromSingularValues is for a subset of nodes as sensors, the random-walk Laplacian, or a given operator:
// M is not symmetric.
func (in *Inspection) fromSingularValues(m sensitivity.Model, s *expm.Spectrum) {
	n := m.Graph.Order()
	if in.SensorCount*n > maxEntries {
		in.note("κ₂, effective rank and coherence of %d × %d entries are not computed: use fewer sensors or nodes", in.SensorCount, n)
		return
	}
	a := entries(m, s)
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDNone) {
		in.note("the singular values of M did not converge")
		return
	}
	values := svd.Values(nil)
	in.EffectiveRank = pointer(effectiveRank(values))
	least, most := values[len(values)-1], values[0]
	if least > float64(n)*most*0x1p-52 {
		in.Kappa2Log10 = pointer(math.Log10(most / least))
	} else {
		in.note("κ₂ is beyond %.2g: the least singular value is lost in rounding", 1/(float64(n)*0x1p-52))
	}
	var h mat.Dense
	h.Mul(a.T(), a)
	in.coherence(m, &h)
}

// entries returns M: as it is given, or rows of sensors of e^{-τL} = diag(1/s) e^{-τS} diag(s).
func entries(m sensitivity.Model, s *expm.Spectrum) *mat.Dense {
	if m.Given != nil {
		rows, n := m.Given[0].Dims()
		a := mat.NewDense(rows, n, nil)
		for j := range n {
			at, x := m.Given[0].Column(j)
			for k, i := range at {
				a.Set(int(i), j, x[k])
			}
		}
		return a
	}
	k := s.Kernel(m.Tau, 0)
	if scale := m.Laplacian.Similarity(); scale != nil {
		k.Apply(func(i, j int, v float64) float64 { return v / scale[i] * scale[j] }, k)
	}
	if m.Sensors == nil {
		return k
	}
	a := mat.NewDense(len(m.Sensors), m.Graph.Order(), nil)
	for r, i := range m.Sensors {
		a.SetRow(r, k.RawRowView(i))
	}
	return a
}
