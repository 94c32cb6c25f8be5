// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// checkBlock is the number of trials that are multiplied together.
const checkBlock = 16

// noiseBlock is the noise z of some trials, and w = Aᵀz, each with one column a trial. What is asked of all trials is
// found by rows of them, so that nothing is copied, and every worker has as much to do.
type noiseBlock struct {
	z, w  []float64
	width int
}

// simulate calls do for the noise of trials, block by block; at is the first
// trial of a block, whose memory is that of the next one too.
func (k *checker) simulate(ctx context.Context, trials int, progress func(string, int64, int64), do func(at int, b *noiseBlock)) error {
	m, n := k.d.A.Dims()
	width := min(checkBlock, trials)
	z, w := linop.GetBlock(m*width), linop.GetBlock(n*width)
	defer z.Put()
	defer w.Put()
	for at := 0; at < trials; at += width {
		if err := ctx.Err(); err != nil {
			return err
		}
		width := min(width, trials-at)
		b := &noiseBlock{z: z.V[:m*width], w: w.V[:n*width], width: width}
		b.draw(k, at)
		do(at, b)
		if progress != nil {
			progress("check the model", int64(at+width), int64(trials))
		}
	}
	return nil
}

// draw fills the block with the noise of trials from the at-th on: each has a stream of its own.
func (b *noiseBlock) draw(k *checker, at int) {
	parallel.Each(b.width, func(j int) {
		random := rand.New(rand.NewPCG(k.seed, uint64(at+j)))
		for s := j; s < len(b.z); s += b.width {
			b.z[s] = random.NormFloat64()
		}
	})
	linop.MulBlockTo(k.coarse, b.w, true, b.z, b.width)
}

// trials returns the log evidence of one source against none in each trial of a block.
func (k *checker) trials(b *noiseBlock) []float64 {
	if k.quick != nil {
		return k.quick.logSums(b.w, b.width)
	}
	odds := make([]float64, b.width)
	parallel.Each(b.width, func(j int) { odds[j] = k.presence(stride(b.w, j, b.width, len(k.norms))) })
	return odds
}

// bestSource is a source, and by how much it raises the log likelihood.
type bestSource struct {
	node            int
	amplitude, gain float64
}

// best returns the source of the largest likelihood of each column of c.
func (k *checker) best(c []float64, width int) []bestSource {
	none := func() []bestSource {
		out := make([]bestSource, width)
		for j := range out {
			out[j].gain = math.Inf(-1)
		}
		return out
	}
	out := none()
	for _, part := range parallel.Parts(len(k.norms), 4*width, func(lo, hi int) []bestSource {
		part := none()
		for i := lo; i < hi; i++ {
			if math.IsInf(k.logPrior[i], -1) {
				continue
			}
			for j, v := range c[i*width : (i+1)*width] {
				a := k.e.likeliest(v, k.norms[i])
				if gain := a*v - a*a*k.norms[i]/2; gain > part[j].gain {
					part[j] = bestSource{i, a, gain}
				}
			}
		}
		return part
	}) {
		for j, s := range part {
			if s.gain > out[j].gain {
				out[j] = s
			}
		}
	}
	return out
}

// residual is what [checker.tail] looks at.
type residual struct {
	square, largest float64
	along           float64 // squares along the visible directions
}

// residuals looks at each column of what sources leave of measurements.
func (k *checker) residuals(rest []float64, width int) []residual {
	m := len(rest) / width
	out := make([]residual, width)
	for _, part := range parallel.Parts(m, 2*width, func(lo, hi int) []residual {
		part := make([]residual, width)
		for s := lo; s < hi; s++ {
			for j, v := range rest[s*width : (s+1)*width] {
				r := &part[j]
				r.square, r.largest = r.square+v*v, max(r.largest, math.Abs(v))
			}
		}
		return part
	}) {
		for j, r := range part {
			out[j].square, out[j].largest = out[j].square+r.square, max(out[j].largest, r.largest)
		}
	}
	if k.visible != nil {
		r, _ := k.visible.Dims()
		parallel.Each(width, func(j int) {
			along := mat.NewVecDense(r, nil)
			along.MulVec(k.visible, mat.NewVecDense(m, stride(rest, j, width, m)))
			out[j].along = mat.Dot(along, along)
		})
	}
	return out
}

// stride returns column j of n rows of k values.
func stride(x []float64, j, k, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x[i*k+j]
	}
	return out
}
