// SPDX-License-Identifier: Apache-2.0

package study

import (
	"context"

	workers "github.com/graphcloak/graphcloak/internal/parallel"
)

// parallel calls f for 0 … n−1 on every processor and returns the first error by
// number. No two calls may write to the same place.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	workers.Each(n, func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = f(i)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
