// SPDX-License-Identifier: Apache-2.0

package parallel

import (
	"math"
	"sync"
	"sync/atomic"
)

// Try is [Rows] for an f that may fail. It returns the error of the first rows that do, whatever
// the order in which they came; rows after those may be left out.
func Try(n, width int, f func(lo, hi int) error) (err error) {
	var lock sync.Mutex
	var failed atomic.Int64 // the first rows so far
	failed.Store(math.MaxInt64)
	Rows(n, width, func(lo, hi int) {
		if int64(lo) > failed.Load() {
			return
		}
		if e := f(lo, hi); e != nil {
			lock.Lock()
			defer lock.Unlock()
			if int64(lo) < failed.Load() {
				failed.Store(int64(lo))
				err = e
			}
		}
	})
	return err
}
