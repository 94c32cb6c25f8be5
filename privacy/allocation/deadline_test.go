// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"runtime"
	"slices"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/laplacian"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// TestLimitIsHonoured: wherever the work ends, each objective returns private weights, the same at any number of
// workers; and a limit that does not bind changes no bit.
func TestLimitIsHonoured(t *testing.T) {
	g, labels, err := graph.SBM(60, 3, .3, .03, 5)
	must.Do(t, err)
	m, d := model(t, g, laplacian.Combinatorial, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, o := range byRows {
		free := must.Get(optimizeAs(t, m, d, labels, o, Options{}))(t)
		cut := 0
		for opts := (Options{Time: 1}); ; opts.Time *= 2 {
			var r [2]*Result
			for k, workers := range []int{1, 3} {
				runtime.GOMAXPROCS(workers)
				r[k] = must.Get(optimizeAs(t, m, d, labels, o, opts))(t)
			}
			if !slices.Equal(r[0].Weights, r[1].Weights) || r[0].CutShort != r[1].CutShort {
				t.Errorf("%v, %v: one worker and three differ", o, opts.Time)
			}
			if !r[0].CutShort {
				if !slices.Equal(r[0].Weights, free.Weights) {
					t.Errorf("%v: a limit that does not bind changes the result", o)
				}
				break
			}
			cut++
			if b, err := sensitivity.Bound(t.Context(), m, r[0].Weights, sensitivity.Options{}); err != nil || b.Upper > 1+1e-6 ||
				b.Lower < 1-1e-6 {
				t.Errorf("%v, %v: certificate [%v, %v] %v, want 1 inside", o, opts.Time, b.Lower, b.Upper, err)
			}
		}
		if cut < 5 {
			t.Errorf("%v: %d limits cut the search, so that little was tested", o, cut)
		}
	}
}
