// SPDX-License-Identifier: Apache-2.0

package parallel_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// TestTry: a loop without an error does all rows; else the error is that of the first rows that
// fail, also where later ones fail sooner.
func TestTry(t *testing.T) {
	withWorkers(t, func(workers int) {
		var done atomic.Int64
		if err := parallel.Try(64, 1<<14, func(lo, hi int) error { done.Add(int64(hi - lo)); return nil }); err != nil ||
			done.Load() != 64 {
			t.Errorf("%d workers: %v after %d rows of 64", workers, err, done.Load())
		}
		err := parallel.Try(64, 1<<14, func(lo, _ int) error {
			if lo%3 != 2 {
				return nil
			}
			if lo == 2 {
				time.Sleep(5 * time.Millisecond)
			}
			return fmt.Errorf("row %d", lo)
		})
		if err == nil || err.Error() != "row 2" {
			t.Errorf("%d workers: %v, want that of row 2", workers, err)
		}
	})
}
