// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// ratios are the likelihoods of an answer against that of a flip: the logarithm of that of yes over that of no, to 2e-9 of it, and
// that of no, which is not 0.
func (m *Model) ratios(x float64) (odds, no float64) {
	yes := (1 - 2*m.flip) / m.flip * x
	less := (1 - 2*m.flip) / (1 - m.flip) * x
	no = (m.flip + (1-2*m.flip)*(1-x)) / (1 - m.flip)
	if u := (yes + less) / (2 + yes - less); u < .1 {
		v := u * u
		return 2 * u * (1 + v*(1./3+v*(1./5+v/7))), no
	}
	return math.Log((1 + yes) / no), no
}

// evidence weighs sources against answers, which are given by those who say yes. With ℓ_tck the log of
// P(answers t | source c, size k)/P(answers t | nobody has heard) and π_k = 1/(number of sizes that are possible from c), it calls emit
// with the block of sources from the first on, at the same time from several workers, with
//
//	logs[c][t][j] = log Σ_k π_k exp(κ_j·ℓ_tck),
//
// and returns sizes[t][k] = log Σ_c π_k exp(ℓ_tck).
func (m *Model) evidence(ctx context.Context, sources []int32, yes [][]int32, kappa []float64, emit func(first int, logs []float64),
) (sizes [][]float64, err error) {
	together := width
	if m.sampled { // on large graphs few nodes are reached in common
		together = 1
	}
	blocks := (len(sources) + together - 1) / together
	type memory struct {
		*block
		weights []float32 // of a yes, by place, size and column
		sums    []float64
	}
	newMemory := func() *memory { return &memory{block: m.newBlock(), sums: make([]float64, together*len(m.sizes))} }
	says, bySize := m.whoSays(yes), make([][]float64, blocks)
	parallel.RowsWith(blocks, 1<<20, newMemory, func(b *memory, lo, hi int) {
		for at := lo; at < hi && ctx.Err() == nil; at++ {
			these := sources[at*together : min((at+1)*together, len(sources))]
			b.weights = b.weights[:0]
			each := len(m.sizes) * len(these)
			clear(b.sums)
			b.columns(these, func(c, k int, x reading) {
				for len(b.weights) < len(b.nodes)*each {
					b.weights = append(b.weights, 0)
				}
				sum := &b.sums[k*len(these)+c]
				product := 1.0
				for place, i := range b.nodes {
					if x := x(place); x > 0 && m.isAsked(int(i)) {
						odds, no := m.ratios(x)
						if product *= no; product < 1e-200 {
							*sum += math.Log(product)
							product = 1
						}
						b.weights[place*each+k*len(these)+c] = float32(odds)
					}
				}
				*sum += math.Log(product)
			})
			logs, sums := m.logEvidence(b.block, these, b.weights, b.sums, says, kappa)
			bySize[at] = sums
			emit(at*together, logs)
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	part := make([]float64, blocks)
	for t := range yes {
		sizes = append(sizes, make([]float64, len(m.sizes)))
		for k := range m.sizes {
			for at := range part {
				part[at] = bySize[at][t*len(m.sizes)+k]
			}
			sizes[t][k] = floats.LogSumExp(part)
		}
	}
	return sizes, nil
}

// voices lists for every node the answers in which it says yes.
type voices struct {
	answers int
	first   []int // of a node's in answer; n + 1
	answer  []int32
}

// whoSays turns the nodes of each answer into voices.
func (m *Model) whoSays(yes [][]int32) voices {
	v := voices{len(yes), make([]int, len(m.labels)+1), nil}
	for _, said := range yes {
		for _, i := range said {
			v.first[i]++
		}
	}
	sum := 0
	for i, k := range v.first {
		v.first[i], sum = sum, sum+k
	}
	v.answer = make([]int32, sum)
	for t, said := range yes {
		for _, i := range said {
			v.answer[v.first[i]] = int32(t)
			v.first[i]++
		}
	}
	copy(v.first[1:], v.first)
	v.first[0] = 0
	return v
}

// logEvidence adds up the weights of those who say yes, from the sums base where nobody does.
func (m *Model) logEvidence(b *block, sources []int32, weights []float32, base []float64, says voices, kappa []float64,
) (logs, bySize []float64) {
	kinds, perSource, each := len(m.sizes), says.answers*len(kappa), len(m.sizes)*len(sources)
	logs, bySize = make([]float64, len(sources)*perSource), make([]float64, says.answers*kinds)
	sums, terms := make([]float32, says.answers*each), make([]float64, kinds)
	for place := range len(weights) / each {
		i, w := b.nodes[place], weights[place*each:][:each]
		if !slices.ContainsFunc(w, func(x float32) bool { return x > 0 }) {
			continue
		}
		for _, t := range says.answer[says.first[i]:says.first[i+1]] {
			sum := sums[int(t)*each:][:each]
			for j, x := range w {
				sum[j] += x
			}
		}
	}
	for t := range says.answers {
		for k := range kinds {
			bySize[t*kinds+k] = math.Inf(-1)
		}
		for c, i := range sources {
			possible := m.sizesFrom(i)
			for k := range possible {
				terms[k] = base[k*len(sources)+c] + float64(sums[t*each+k*len(sources)+c])
				bySize[t*kinds+k] = logAdd(bySize[t*kinds+k], terms[k]-math.Log(float64(possible)))
			}
			for j, x := range kappa {
				logs[c*perSource+t*len(kappa)+j] = logMeanExp(terms[:possible], x)
			}
		}
	}
	return logs, bySize
}

// logAdd returns log(e^x + e^y) for a finite y.
func logAdd(x, y float64) float64 { return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y))) }

// meanEvidence returns the log likelihood ratio of a rumour that any of the sources may have started, under sizes of [Model.evidence].
func meanEvidence(sizes []float64, sources int) float64 {
	return floats.LogSumExp(sizes) - math.Log(float64(sources))
}

// likelySize returns the size of the whisper under sizes of [Model.evidence]: the exponential of its mean logarithm.
func (m *Model) likelySize(sizes []float64) float64 {
	total, mean := floats.LogSumExp(sizes), 0.0
	for k, v := range sizes {
		mean += math.Exp(v-total) * math.Log(m.sizes[k])
	}
	return math.Exp(mean)
}

// logMeanExp returns log of the mean of e^{κ·x}.
func logMeanExp(x []float64, kappa float64) float64 {
	top, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(kappa * (v - top))
	}
	return kappa*top + math.Log(sum/float64(len(x)))
}
