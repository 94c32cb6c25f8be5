// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// Simulated compares an allocation with equal noise by simulated releases of a source of
// amplitude 1, the same for both, with every node as a hypothesis. The norms of the columns
// of M are estimates, which errs towards less accuracy where it is high.
type Simulated struct {
	Trials int `json:"trials"`
	// share in which the likeliest community is the true one; the node, where there is one community
	Right     float64 `json:"right"`
	Equal     float64 `json:"rightUniform"` // under equal noise
	Loss      float64 `json:"logLoss"`      // mean −log of the probability of the truth, in nats
	EqualLoss float64 `json:"logLossUniform"`
}

// Possible reports whether a simulation can give this.
func (s *Simulated) Possible() bool {
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	return s.Trials > 0 && share(s.Right) && share(s.Equal) && s.Loss >= 0 && s.EqualLoss >= 0
}

// NoGain is an [ErrNothing] with the simulation that says so: of an allocation that was found, and of
// equal noise.
type NoGain struct{ Simulated Simulated }

func (e *NoGain) Error() string {
	return ErrNothing.Error() + ": in a simulation the allocation that was found told no more than equal noise"
}

// Unwrap returns [ErrNothing].
func (e *NoGain) Unwrap() error { return ErrNothing }

// hearingErrors is the number of standard errors by which an allocation has to lose less than equal noise
// to be taken at the first hearing.
const hearingErrors = 2

// compare simulates under u and under equal weights. It returns a [NoGain] where u tells no
// more. Neither chance nor norms that are estimates, which cost an allocation more than equal noise,
// reject it at the first hearing: where u is not better beyond chance, a second one of more releases
// and random vectors decides, where the budget has one.
func (p *problem) compare(m Diffusion, sensors []int, u []float64, equal float64, b budget) (*Simulated, error) {
	even := make([]float64, len(u))
	floats.AddConst(equal, even)
	own, other := p.newWitness(u, b.again > 1), p.newWitness(even, b.again > 1)
	s, deviation := p.newJury(m, sensors, b).hear(own, other)
	if b.again > 1 && !(s.Loss < s.EqualLoss-hearingErrors*deviation) && !p.expired() {
		b.trials, b.probes = b.again*b.trials, b.again*b.probes
		s, _ = p.newJury(m, sensors, b).hear(own, other)
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if !(s.Loss < s.EqualLoss) {
		return nil, &NoGain{*s}
	}
	return s, nil
}

// jury holds simulated sources of amplitude 1.
type jury struct {
	p       *problem
	m       Diffusion
	sensors []int
	probes  int   // blocks of random vectors, for the norms
	sources []int // of whole blocks
}

func (p *problem) newJury(m Diffusion, sensors []int, b budget) *jury {
	n := p.model.Graph.Order()
	j := &jury{p: p, m: m, sensors: sensors, probes: b.probes}
	order := p.sampleNodes(n)
	prior := make([]float64, n)
	for k, i := range order {
		prior[k] = p.prior[i]
	}
	total := cumulate(prior)
	trials := b.trials * width
	for t := range trials {
		j.sources = append(j.sources, order[total.at((float64(t)+.5)/float64(trials))])
	}
	return j
}

// witness is an allocation with what was simulated under it, a value for each source. From one hearing to the next, of which every
// one draws other sources, it keeps the squares of the random vectors.
type witness struct {
	root, half  []float64 // √u/r, and half the squared norms of the columns
	keeps       bool
	kept        [][]float64 // ‖x‖² of each node, for the first blocks of random vectors
	loss, right []float64
}

func (p *problem) newWitness(u []float64, keeps bool) *witness {
	w := &witness{root: make([]float64, len(u)), keeps: keeps}
	for k, v := range u {
		w.root[k] = math.Sqrt(v) / p.opts.Noise
	}
	return w
}

// call prepares a witness for the sources of a hearing.
func (j *jury) call(w *witness) {
	w.loss, w.right = make([]float64, len(j.sources)), make([]float64, len(j.sources))
	w.half = j.halfNorms(w)
	w.keeps = false
}

// hear simulates releases of the same sources and random numbers under two allocations, and
// returns the standard error of the mean difference of their losses. The result means nothing where
// the context has ended.
func (j *jury) hear(own, other *witness) (s *Simulated, deviation float64) {
	j.call(own)
	j.call(other)
	n := j.p.model.Graph.Order()
	in, y := make([]float64, n*width), make([]float64, n*width)
	for at := 0; at < len(j.sources) && j.p.ctx.Err() == nil; at += width {
		clear(in)
		for k, i := range j.sources[at : at+width] {
			in[i*width+k] = 1
		}
		linop.MulBlockTo(j.m, y, false, in, width)
		j.testify(own, y, at)
		j.testify(other, y, at)
	}
	trials, square := float64(len(j.sources)), 0.0
	for t, v := range own.loss {
		square += (v - other.loss[t]) * (v - other.loss[t]) / trials
	}
	s = &Simulated{
		Trials: len(j.sources), Right: floats.Sum(own.right) / trials, Equal: floats.Sum(other.right) / trials,
		Loss: floats.Sum(own.loss) / trials, EqualLoss: floats.Sum(other.loss) / trials,
	}
	return s, standardError(s.Loss-s.EqualLoss, square, trials)
}

// testify simulates under w the block of sources from place at on, of which y is what sensors read: the
// −log of the probability of the true community, and whether it is the likeliest.
func (j *jury) testify(w *witness, y []float64, at int) {
	in, out := make([]float64, len(y)), make([]float64, len(y))
	for k := range width {
		random := rand.New(rand.NewPCG(1, uint64(at+k))) // public on purpose: this noise hides nothing
		for s, i := range j.sensors {
			in[i*width+k] = w.root[s] * (w.root[s]*y[i*width+k] + random.NormFloat64())
		}
	}
	linop.MulBlockTo(j.m, out, true, in, width)
	parallel(width, func(k int) { w.loss[at+k], w.right[at+k] = j.trial(out, w.half, k, j.sources[at+k]) })
}

// halfNorms estimates Σ_s u_s M_si²/2r² of every node i, by ‖x_i‖² = ‖x_i − a‖² + 2aᵀx_i − ‖a‖² for
// the columns x_i and their mean a: random vectors estimate the first term alone, for the others
// may be larger by magnitudes than all differences of columns.
func (j *jury) halfNorms(w *witness) []float64 {
	n := j.p.model.Graph.Order()
	half := j.shared(w.root)
	in, out := make([]float64, n*width), make([]float64, n*width)
	random := rand.New(rand.NewPCG(2, 13)) // public on purpose
	for block := range j.probes {
		if j.p.ctx.Err() != nil {
			break
		}
		signs := make([]uint64, len(j.sensors)) // drawn where the squares are kept too, for the blocks after them
		for s := range signs {
			signs[s] = random.Uint64()
		}
		var squares []float64
		if block < len(w.kept) {
			squares = w.kept[block]
		} else {
			squares = j.squares(w, signs, in, out)
		}
		if w.keeps {
			w.kept = append(w.kept, squares)
		}
		for i, v := range squares {
			half[i] += v / float64(2*width*j.probes)
		}
	}
	return half
}

// squares returns ‖x − a‖² of each node by a block of random signs, a word of them for each sensor.
func (j *jury) squares(w *witness, signs []uint64, in, out []float64) []float64 {
	clear(in)
	for s, i := range j.sensors {
		for k := range width {
			in[i*width+k] = w.root[s] * float64(1-2*int(signs[s]>>k&1))
		}
	}
	linop.MulBlockTo(j.m, out, true, in, width)
	center(out)
	squares := make([]float64, j.p.model.Graph.Order())
	each(len(squares), width, func(i int) {
		x := out[i*width : (i+1)*width]
		squares[i] = floats.Dot(x, x)
	})
	return squares
}

// shared returns aᵀx_i − ‖a‖²/2 of every node i.
func (j *jury) shared(root []float64) []float64 {
	n := j.p.model.Graph.Order()
	even, mean, in, dot := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	floats.AddConst(1/float64(n), even)
	j.m.MulVecTo(mean, false, even)
	norm := 0.0
	for s, i := range j.sensors {
		in[i] = root[s] * root[s] * mean[i]
		norm += in[i] * mean[i]
	}
	j.m.MulVecTo(dot, true, in)
	floats.AddConst(-norm/2, dot)
	return dot
}

// certainty is the largest probability that the loss believes, beside the prior's: norms are
// estimates, and one trial must not outweigh all others.
const certainty = .99

// trial returns the loss of column k, whose source is known, of naming the community or,
// where there is one, the node; and 1 where that is the likeliest, else 0.
func (j *jury) trial(c, half []float64, k, source int) (loss, right float64) {
	n, labels, count := len(half), j.p.labels, j.p.count
	if count == 1 {
		count, labels = n, make([]int, n)
		for i := range labels {
			labels[i] = i
		}
	}
	post, mean := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i] = c[i*width+k]
	}
	integrate(post, mean, half, j.p.prior, fullSize.levels)
	weight, share, truth := make([]float64, count), 0.0, labels[source]
	for i, a := range labels {
		weight[a] += post[i]
		if a == truth {
			share += j.p.prior[i]
		}
	}
	if floats.MaxIdx(weight) == truth {
		right = 1
	}
	return -math.Log(certainty*weight[truth] + (1-certainty)*share), right
}
