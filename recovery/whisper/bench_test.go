// SPDX-License-Identifier: Apache-2.0

package whisper_test

import (
	"math"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/recovery/whisper"
)

// BenchmarkLocate computes the columns of 10,000 people with 50,000 relationships, of sizes up to 5,000, and weighs answers.
func BenchmarkLocate(b *testing.B) {
	g, labels, err := graph.SBM(10_000, 100, .08, 2./9900, 1)
	if err != nil {
		b.Fatal(err)
	}
	m := must.Get(whisper.New(g, whisper.Options{Flip: 1 / (1 + math.E), Labels: labels}))(b)
	answers := make([]whisper.Answer, g.Order())
	for i := range answers {
		answers[i] = whisper.Answer(1 + i%3/2)
	}
	plain := whisper.Tempering{Flip: 1 / (1 + math.E), Classes: []whisper.Class{{Exponent: .5, Deviation: 1}}}
	for b.Loop() {
		must.Get(m.Locate(b.Context(), plain, [][]whisper.Answer{answers}, whisper.LocateOptions{}))(b)
	}
	b.ReportMetric(float64(g.Size()), "relationships")
}
