// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"
	"runtime"
	"sync"
)

// parallel calls f for 0 … n−1 on every processor and returns the first error by
// number. No two calls may write to the same place.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	var wait sync.WaitGroup
	workers := min(n, runtime.GOMAXPROCS(0))
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = f(i)
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
