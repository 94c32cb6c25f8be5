// SPDX-License-Identifier: Apache-2.0

package sensitivity

import (
	"context"
	"math"
)

func (p *problem) search(ctx context.Context, opts Options) (Bracket, error) {
	b := Bracket{Edge: [2]int{-1, -1}}
	for _, e := range p.edges {
		_, _, square := p.start(e)
		b.Upper = max(b.Upper, e.scale*math.Sqrt(square*p.peak)*(1+8*unit))
	}
	return b, ctx.Err()
}
