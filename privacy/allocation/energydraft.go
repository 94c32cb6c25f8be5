// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"fmt"
	"math"
)

// draftRounds is the number of rounds of a [Draft] by [Energy]: enough to rank operators, of which
// the allocation that follows gets more.
const draftRounds = 12

// draftEnergy is [Draft] without rows of M, as [Energy] allocates. It is judged at the sources at which
// equal noise is. It returns [ErrWork] where [Optimize] does.
func (p *problem) draftEnergy(m Diffusion, sensors []int) (Sketch, error) {
	if _, err := p.affordable(); err != nil {
		return Sketch{}, err
	}
	peak := p.equalPeak(m, sensors)
	if peak == 0 {
		return Sketch{}, fmt.Errorf("%w: the sensors read the same from the two ends of every relationship", ErrNothing)
	}
	s := p.newSearch(m, sensors, 1/peak)
	s.m = p.coarse(m, peak)
	s.run(draftRounds)
	if err := p.ctx.Err(); err != nil {
		return Sketch{}, err
	}
	scale := make([]float64, len(s.u))
	for k, u := range s.u {
		scale[k] = math.Sqrt(u) / p.opts.Noise
	}
	found := p.simulate(m, sensors, scale)
	found.Sensitivity = math.Sqrt(peak)
	return found, p.ctx.Err()
}

// energyDraftProducts is about how many products draftEnergy takes on n nodes.
func energyDraftProducts(n int) int {
	const blocks = draftRounds*roundBlocks + settleBlocks + 5 // 5: the worst edge of equal weights, and the odds
	return int(blocks*width) + equalNodes(n)
}
