// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphcloak/graphcloak/connector"
)

// TestColdServer: a server that is starting is waited for, in words and for a bounded time; one that refuses is not.
func TestColdServer(t *testing.T) {
	coldTime = 30 * time.Second
	t.Cleanup(func() { coldTime = 0 })
	for _, c := range []struct {
		name     string
		failures int
		err      error
		took     time.Duration
		said     bool
	}{
		{"it starts", 7, connector.ErrTransient, 7 * time.Second, true},
		{"it is away", 1000, connector.ErrTransient, 30 * time.Second, true},
		{"a wrong password", 1000, connector.ErrAuth, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, _, stderr := kit(t)
			begun, tried := time.Now(), 0
			_, err := a.whenWarm(t.Context(), func() (graphStore, error) {
				if tried++; tried <= c.failures {
					return nil, c.err
				}
				return nil, nil
			})
			if took := time.Since(begun); took != c.took || (err == nil) != (tried > c.failures) || err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s: %v after %v, want %v", c.name, err, took, c.took)
			}
			if n := strings.Count(stderr.String(), "it may be starting"); (n == 1) != c.said {
				t.Errorf("%s: it is said %d times: %s", c.name, n, stderr)
			}
		})
	}
}
