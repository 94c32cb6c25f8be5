// SPDX-License-Identifier: Apache-2.0

package whisper_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/recovery/whisper"
)

// A rumour starts among 120 people of three communities, all answer, and each answer is flipped with probability 1/(1 + e²).
func Example() {
	g, labels, err := graph.SBM(120, 3, .2, .005, 1)
	if err != nil {
		log.Fatal(err)
	}
	flip := 1 / (1 + math.Exp(2))
	ctx := context.Background()
	m, err := whisper.New(g, whisper.Options{Flip: flip, Labels: labels})
	if err != nil {
		log.Fatal(err)
	}
	tempering, err := m.Temper(ctx, 1, 300) // before anybody answers
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the tempering is valid:", tempering.Check(flip) == nil)

	random := rand.New(rand.NewPCG(2, 2))
	answers := make([]whisper.Answer, g.Order())
	for i := range answers {
		answers[i] = whisper.No
	}
	source := 50
	for _, i := range whisper.NewCascades(g).Run(whisper.Nature{Law: whisper.SI}, source, whisper.Cut{Size: 20}, random) {
		answers[i] = whisper.Yes
	}
	for i, a := range answers {
		if random.Float64() < flip {
			answers[i] = whisper.Yes + whisper.No - a
		}
	}
	results, err := m.Locate(ctx, tempering, [][]whisper.Answer{answers}, whisper.LocateOptions{Nulls: 99})
	if err != nil {
		log.Fatal(err)
	}
	r := results[0]
	fmt.Printf("%d of %d say yes, about %.0f ± %.0f of them have heard it\n", r.Yes, r.Asked, r.Heard, r.HeardError)
	fmt.Printf("it began in community %d, whose probability is %.2f\n", labels[source], r.Community[labels[source]])
	fmt.Println("that nobody has heard it is refuted:", r.Presence.Nobody < .01)

	cascade := whisper.Nature{Law: whisper.IC, Passing: .3}
	e, err := m.Evaluate(ctx, tempering, whisper.EvaluateOptions{Trials: 50, Nature: &cascade, From: 20, To: 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("better than chance under the law %v: %v\n", cascade.Law, e.Right > e.Chance)
	_, _, ok, err := whisper.LargestFlip(ctx, g, whisper.Options{Labels: labels}, []float64{.01}, .5, whisper.EvaluateOptions{Trials: 30})
	fmt.Println("half are placed right under few flips:", ok, err)
	// Output:
	// the tempering is valid: true
	// 29 of 120 say yes, about 19 ± 5 of them have heard it
	// it began in community 1, whose probability is 0.90
	// that nobody has heard it is refuted: true
	// better than chance under the law IC: true
	// half are placed right under few flips: true <nil>
}
