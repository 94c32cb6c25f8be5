// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import "testing"

// TestEstimatedBytes: the program stays within the bytes that estimate gave before, on
// five sizes; the benchmark goes to 20,000 nodes. Seconds depend on the machine's load and are compared in the benchmark.
func TestEstimatedBytes(t *testing.T) {
	for _, spec := range []string{
		"sbm,n=100,k=2,in=0.2,out=0.01,seed=1",
		"sbm,n=500,k=5,in=0.1,out=0.002,seed=1",
		"barabasi-albert,n=2000,m=5,seed=1",
		"sbm,n=3000,k=10,in=0.04,out=0.0005,seed=1",
		"knn,n=6000,k=6,seed=1",
	} {
		t.Run(spec, func(t *testing.T) {
			const mib = 1 << 20
			err := promised(t.Context(), t.TempDir(), spec, "uniform", func(p interval, o outcome) {
				if o.bytes < p.BytesMin || o.bytes > p.BytesMax {
					t.Errorf("%s takes %.0f MiB, estimated %.0f to %.0f", p.Command, o.bytes/mib, p.BytesMin/mib, p.BytesMax/mib)
				}
			}, "plan", "release", "recover")
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
