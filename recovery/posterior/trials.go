// SPDX-License-Identifier: Apache-2.0

package posterior

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/laplacian/linop"
)

// checkBlock is the number of trials that are multiplied together, at most.
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
	width := min(checkBlock, trials, linop.BlockColumns(max(m, n)))
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

// draw fills the block with the noise of trials from the at-th on: each has a stream of its own. Some streams take turns, so that
// what lies together is written together.
func (b *noiseBlock) draw(k *checker, at int) {
	const together, turn = 4, 1 << 9
	parallel.Each((b.width+together-1)/together, func(part int) {
		first, last := part*together, min((part+1)*together, b.width)
		var random [together]*rand.Rand
		for j := first; j < last; j++ {
			random[j-first] = rand.New(rand.NewPCG(k.seed, uint64(at+j)))
		}
		for rows := b.z; len(rows) > 0; rows = rows[min(turn*b.width, len(rows)):] {
			for j := first; j < last; j++ {
				for s := j; s < min(turn*b.width, len(rows)); s += b.width {
					rows[s] = random[j-first].NormFloat64()
				}
			}
		}
	})
	linop.MulBlockTo(k.d.A, b.w, true, b.z, b.width)
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

// residual is what [checker.tail] looks at.
type residual struct {
	square, largest float64
	along           float64 // squares along the visible directions
}

// residual looks at what sources leave of measurements.
func (k *checker) residual(rest []float64) residual {
	out := residual{square: floats.Dot(rest, rest), largest: floats.Norm(rest, math.Inf(1))}
	if k.visible != nil {
		r, _ := k.visible.Dims()
		along := mat.NewVecDense(r, nil)
		along.MulVec(k.visible, mat.NewVecDense(len(rest), rest))
		out.along = mat.Dot(along, along)
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
