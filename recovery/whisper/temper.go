// SPDX-License-Identifier: Apache-2.0

package whisper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/graphcloak/graphcloak/internal/parallel"
)

// Tempering says how far the likelihood is trusted, which takes answers for independent although those who hear and those beside
// them hear together. It is public: simulated cascades make it before anybody answers.
type Tempering struct {
	Flip    float64 `json:"flip"`    // f of the channel
	Trials  int     `json:"trials"`  // simulated cascades
	Classes []Class `json:"classes"` // by size, the smallest first
}

// Class holds for whispers of about one size. The probability of a community c is ∝ exp(Σ_j (Weights[j] + g·Slopes[j])·φ_j(c)), where
//
//	φ_0 = log Σ_{i ∈ c} Σ_k π_k (likelihood of node i and size k)^Exponent
//	φ_1 = log of the number of its people
//	φ_2 = z_c/σ
//	φ_3 = z_c/(σ·√(number of its people who answer))
//
// with z_c the unbiased number of its people who have heard and σ the standard deviation of one unbiased answer. g says how
// well a rumour of this kind explains the answers, which tells how it spreads: [Presence].LogEvidence less Mean, over
// Deviation, and within [−2, 2]. Within a community the probability of node i is
// ∝ (Σ_k π_k (likelihood)^Exponent)^People: who started a rumour is distinguished from those beside them less surely than the
// likelihood says.
type Class struct {
	UpTo      float64           `json:"upTo"` // the largest size, as the answers let it be guessed; the last class has no end
	Exponent  float64           `json:"exponent"`
	People    float64           `json:"people"`
	Mean      float64           `json:"mean"`
	Deviation float64           `json:"deviation"`
	Weights   [features]float64 `json:"weights"`
	Slopes    [features]float64 `json:"slopes"`
	Capped    bool              `json:"capped"` // whether no community gets a probability above .9
}

// features is the number of the φ.
const features = 4

// at returns the weights of answers of this evidence.
func (c Class) at(evidence float64) [features]float64 {
	w, g := c.Weights, c.surprise(evidence)
	for j, slope := range c.Slopes {
		w[j] += g * slope
	}
	return w
}

// surprise returns g.
func (c Class) surprise(evidence float64) float64 {
	return max(-2, min(2, (evidence-c.Mean)/c.Deviation))
}

// Check reports whether a tempering may be used under a channel.
func (t Tempering) Check(flip float64) error {
	if t.Flip != flip || len(t.Classes) == 0 {
		return fmt.Errorf("%w: the tempering is for a flip probability of %v and has %d classes; want %v and at least one",
			ErrInvalid, t.Flip, len(t.Classes), flip)
	}
	for k, c := range t.Classes {
		if !(c.Exponent > 0 && c.Exponent <= 1) || !(c.People >= 0 && c.People <= 1) || math.IsNaN(c.UpTo) ||
			k > 0 && !(c.UpTo > t.Classes[k-1].UpTo) {
			return fmt.Errorf("%w: class %d of the tempering has the exponents %v and %v and goes up to %v", ErrInvalid, k, c.Exponent,
				c.People, c.UpTo)
		}
		if !(c.Deviation > 0) || math.IsInf(c.Deviation, 1) || math.IsNaN(c.Mean) || math.IsInf(c.Mean, 0) {
			return fmt.Errorf("%w: class %d of the tempering has the mean %v and the deviation %v", ErrInvalid, k, c.Mean, c.Deviation)
		}
		for j := range features {
			if !(math.Abs(c.Weights[j]) <= maxWeight && math.Abs(c.Slopes[j]) <= maxWeight) {
				return fmt.Errorf("%w: class %d of the tempering has the weights %v and slopes %v", ErrInvalid, k, c.Weights, c.Slopes)
			}
		}
	}
	return nil
}

// maxWeight bounds the weights of a class.
const maxWeight = 1000

// class returns the number of the class of a whisper.
func (t Tempering) class(size float64) int {
	k := slices.IndexFunc(t.Classes, func(c Class) bool { return size <= c.UpTo })
	if k < 0 {
		return len(t.Classes) - 1
	}
	return k
}

// exponents are the κ that are tried, and ofPeople the exponents within a community.
var (
	exponents = []float64{.05, .1, .2, .35, .6, 1}
	ofPeople  = []float64{0, .1, .2, .3, .4, .6, .8, 1}
)

const (
	// maxClasses and classTrials bound the classes.
	maxClasses  = 6
	classTrials = 300
	// pull is the number of trials that hold the weights of a class near those of all.
	pull = 60
	// confident is the probability above which an answer counts as confident.
	confident = .9
	// confidentAndWrong is the share of the rumours of one law in a class that may have a wrong community with more than that.
	confidentAndWrong = .02
	// temperSources bounds the nodes whose columns are computed for a tempering; more are sampled.
	temperSources = 1024
	// temperWork bounds the additions of a tempering, about ten seconds.
	temperWork = 1 << 33
)

// trial is a simulated cascade and its answers.
type trial struct {
	source int
	heard  int
	yes    []int32
	law    Law
}

// Temper simulates cascades, a mixture of all laws and sizes, and chooses of each class what maximises the log score of
// the community of the source. Where rumours of one law alone would be confident and wrong in more than 2 %, no community gets more
// than .9: answers hardly say which law it is. trials is how many; 0: 300 to 2,000, as time allows. The bits do not depend on the number of
// workers.
func (m *Model) Temper(ctx context.Context, seed uint64, trials int) (Tempering, error) {
	if trials < 0 || trials > 1<<20 {
		return Tempering{}, fmt.Errorf("%w: %d trials", ErrInvalid, trials)
	}
	most := m.within(temperSources)
	if !m.sampled { // [Model.Locate] weighs everybody, so that more trials are worth more than more sources
		most /= 2
	}
	sources, each := m.sample(most)
	if trials == 0 {
		said := m.flip*float64(m.askedCount()) + m.greatest
		trials = int(max(300, min(2000, temperWork/(said*float64(len(sources)*len(m.sizes))))))
	}
	among := make([][]int32, len(m.orders)) // the sources of each community
	for _, i := range sources {
		among[m.labels[i]] = append(among[m.labels[i]], i)
	}
	drawn := m.simulate(trials, func(t int, random *rand.Rand, c *Cascades) trial {
		source := random.IntN(len(m.labels))
		if all := among[m.labels[source]]; len(sources) < len(m.labels) && !m.sampled {
			source = int(all[random.IntN(len(all))])
		}
		heard, law := m.mixed(source, random, c)
		return trial{source, len(heard), m.flipped(heard, random), law}
	}, seed)
	table, err := m.featureTable(ctx, drawn, sources, each)
	if err != nil {
		return Tempering{}, err
	}
	return m.fit(drawn, len(sources), table), nil
}

// mixed draws a cascade of a mixture: half SI, a quarter IC and SIR each, of which a third end by themselves. Sizes at
// which they are cut are log-uniform.
func (m *Model) mixed(source int, random *rand.Rand, c *Cascades) ([]int32, Law) {
	size := m.drawSize(random)
	law, cut := []Law{SI, SI, IC, SIR}[random.IntN(4)], Cut{Size: size}
	if law == SI {
		return c.Run(Nature{}, source, cut, random), SI
	}
	if random.IntN(3) == 0 {
		cut.Size = int(m.greatest) + 1
	}
	ends := float64(len(m.adj)) / float64(len(m.labels)) // mean degree
	for range 30 {
		told := .9 * math.Pow(4, random.Float64()) // people whom one tells
		heard := c.Run(Nature{law, min(.9, told/max(ends, 1))}, source, cut, random)
		if len(heard) >= min(int(m.smallest), size) && len(heard) <= int(m.greatest) {
			return heard, law
		}
	}
	return c.Run(Nature{}, source, Cut{Size: size}, random), SI
}

// drawSize draws the size at which a cascade is cut.
func (m *Model) drawSize(random *rand.Rand) int {
	return int(math.Round(m.smallest * math.Pow(m.greatest/m.smallest, random.Float64())))
}

// flipped returns who says yes where those given have heard.
func (m *Model) flipped(heard []int32, random *rand.Rand) []int32 {
	truth := make([]bool, len(m.labels))
	for _, i := range heard {
		truth[i] = true
	}
	var yes []int32
	for i, x := range truth {
		if m.isAsked(i) && x != (random.Float64() < m.flip) {
			yes = append(yes, int32(i))
		}
	}
	return yes
}

// simulate calls draw for every trial, each with a stream of its own.
func (m *Model) simulate(trials int, draw func(t int, random *rand.Rand, c *Cascades) trial, seed uint64) []trial {
	out := make([]trial, trials)
	parallel.RowsWith(trials, 1<<14, func() *Cascades { return newCascades(m.ptr, m.adj, m.rate) }, func(c *Cascades, lo, hi int) {
		for t := lo; t < hi; t++ {
			out[t] = draw(t, rand.New(rand.NewPCG(seed, uint64(t))), c)
		}
	})
	return out
}

// lessons are what trials say of the choices of a class.
type lessons struct {
	phi    [][][][features]float64 // by exponent, trial and community
	people [][][]float64           // log probability of the source within its community, by exponent, trial and exponent of people
	sizes  [][]float64             // evidence by trial and size
}

// featureTable computes the lessons of trials.
func (m *Model) featureTable(ctx context.Context, trials []trial, sources []int32, each []float64) (table lessons, err error) {
	yes := make([][]int32, len(trials))
	for t := range trials {
		yes[t] = trials[t].yes
	}
	kinds := len(exponents)
	logs := make([]float32, len(sources)*len(yes)*kinds)
	table.sizes, err = m.evidence(ctx, sources, yes, exponents, func(first int, part []float64) {
		for k, v := range part {
			logs[first*len(yes)*kinds+k] = float32(v)
		}
	})
	if err != nil {
		return lessons{}, err
	}
	for range kinds {
		table.phi = append(table.phi, make([][][features]float64, len(trials)))
		table.people = append(table.people, make([][]float64, len(trials)))
	}
	places := make([]float64, len(sources))
	for k := range places {
		places[k] = float64(k)
	}
	standIn := m.spreadOut(sources, places)
	parallel.Each(len(trials), func(t int) {
		z, _ := m.unbiased(yes[t])
		sums, truth := make([]float64, len(z)), trials[t].source
		for j := range kinds {
			at := func(k int) float64 { return float64(logs[(k*len(yes)+t)*kinds+j]) }
			m.logSums(sums, sources, func(k int) float64 { return at(k) + math.Log(each[k]) })
			table.phi[j][t] = m.features(sums, z)
			for _, x := range ofPeople {
				m.logSums(sums, sources, func(k int) float64 { return x*at(k) + math.Log(each[k]) })
				own := int(standIn[truth])
				table.people[j][t] = append(table.people[j][t], x*at(own)-sums[m.labels[truth]])
			}
		}
	})
	return table, nil
}

// logSums sets sums to log Σ_{k in c} e^{x(k)} of each community c.
func (m *Model) logSums(sums []float64, sources []int32, x func(k int) float64) {
	top := make([]float64, len(sums))
	for c := range top {
		top[c], sums[c] = math.Inf(-1), 0
	}
	for k, i := range sources {
		top[m.labels[i]] = max(top[m.labels[i]], x(k))
	}
	for k, i := range sources {
		c := m.labels[i]
		sums[c] += math.Exp(x(k) - top[c])
	}
	for c := range sums {
		sums[c] = top[c] + math.Log(sums[c])
	}
}

// features returns the φ of each community.
func (m *Model) features(logSums, z []float64) [][features]float64 {
	sigma := math.Sqrt(m.flip*(1-m.flip)) / (1 - 2*m.flip)
	out := make([][features]float64, len(z))
	for c := range out {
		asked := float64(max(1, m.askedOf[c]))
		out[c] = [features]float64{logSums[c], math.Log(float64(m.orders[c])), z[c] / sigma, z[c] / (sigma * math.Sqrt(asked))}
	}
	return out
}

// probabilities returns those of the communities.
func probabilities(phi [][features]float64, w [features]float64) []float64 {
	p := make([]float64, len(phi))
	for c := range p {
		p[c] = floats.Dot(phi[c][:], w[:])
	}
	floats.AddConst(-floats.LogSumExp(p), p)
	for c := range p {
		p[c] = math.Exp(p[c])
	}
	return p
}

// fit chooses classes of about as many trials each, and an exponent and weights for each.
func (m *Model) fit(trials []trial, sources int, table lessons) Tempering {
	out, sizes := Tempering{Flip: m.flip, Trials: len(trials)}, table.sizes
	likely, order, learned := make([]float64, len(trials)), make([]int, len(trials)), make([]lesson, len(trials))
	for t := range order {
		likely[t], order[t] = m.likelySize(sizes[t]), t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(likely[a], likely[b]) })
	count := max(1, min(maxClasses, len(trials)/classTrials))
	cut := func(k int) int { return len(order) * k / count }
	for k := range count {
		c, part := Class{}, make([]float64, 0, cut(k+1)-cut(k))
		for _, t := range order[cut(k):cut(k+1)] {
			part = append(part, meanEvidence(sizes[t], sources))
			c.UpTo = likely[t]
		}
		c.Mean, c.Deviation = stat.MeanStdDev(part, nil)
		if !(c.Deviation > 1e-3) { // of one trial it is not a number
			c.Deviation = 1e-3
		}
		for j, t := range order[cut(k):cut(k+1)] {
			learned[cut(k)+j] = lesson{t, m.labels[trials[t].source], c.surprise(part[j]), trials[t].law}
		}
		out.Classes = append(out.Classes, c)
	}
	pooled := make([][2 * features]float64, len(exponents))
	parallel.Each(len(exponents), func(j int) { pooled[j], _ = fitWeights(learned, table.phi[j], [2 * features]float64{1}, 1) })
	parallel.Each(count, func(k int) {
		best, class := math.Inf(-1), &out.Classes[k]
		for j, x := range exponents {
			w, score := fitWeights(learned[cut(k):cut(k+1)], table.phi[j], pooled[j], pull)
			if score > best {
				best, class.Exponent = score, x
				class.People = bestOfPeople(learned[cut(k):cut(k+1)], table.people[j])
				class.Capped = tooSure(learned[cut(k):cut(k+1)], table.phi[j], w)
				copy(class.Weights[:], w[:features])
				copy(class.Slopes[:], w[features:])
			}
		}
	})
	out.Classes = slices.CompactFunc(out.Classes, func(a, b Class) bool { return a.UpTo == b.UpTo })
	return out
}

// bestOfPeople maximises the log score of the sources within their communities.
func bestOfPeople(of []lesson, people [][]float64) float64 {
	sums := make([]float64, len(ofPeople))
	for _, l := range of {
		floats.Add(sums, people[l.trial])
	}
	return ofPeople[floats.MaxIdx(sums)]
}

// lesson is what a trial says of weights.
type lesson struct {
	trial, truth int
	surprise     float64
	law          Law
}

// chances returns the probabilities of the communities under weights and slopes.
func (l lesson) chances(w [2 * features]float64, phi [][][features]float64) []float64 {
	var at [features]float64
	for a := range at {
		at[a] = w[a] + l.surprise*w[features+a]
	}
	return probabilities(phi[l.trial], at)
}

// tooSure reports whether rumours of some law alone are confident and wrong too often.
func tooSure(lessons []lesson, phi [][][features]float64, w [2 * features]float64) bool {
	var count, wrong [SIR + 1]float64
	for _, l := range lessons {
		p := l.chances(w, phi)
		count[l.law]++
		if best := floats.MaxIdx(p); best != l.truth && p[best] > confident {
			wrong[l.law]++
		}
	}
	floats.AddScaled(wrong[:], -confidentAndWrong, count[:])
	return floats.Max(wrong[:]) > 0
}

// capConfidence lowers the probability of the likeliest community to [confident]. The others keep their shares of the rest, which is
// summed by itself: 1 less the likeliest is 0 where it is below 1e-16.
func capConfidence(p []float64) {
	best, rest := floats.MaxIdx(p), 0.0
	if p[best] <= confident || len(p) == 1 {
		return
	}
	for c := range p {
		if c != best {
			p[c] = max(p[c], 1e-300) // where all others are 0 they share evenly
			rest += p[c]
		}
	}
	floats.Scale((1-confident)/rest, p)
	p[best] = confident
}

// fitWeights maximises the log score of the true communities by Newton's method, less what holds weights and slopes near those given
// as much as so many trials do. It returns weights and slopes, and the score.
func fitWeights(lessons []lesson, phi [][][features]float64, near [2 * features]float64, hold float64) ([2 * features]float64, float64) {
	const n = 2 * features
	w, stiff := near, [n]float64{}
	objective := func(w [n]float64) float64 {
		total := 0.0
		for _, l := range lessons {
			total += math.Log(max(l.chances(w, phi)[l.truth], 1e-300))
		}
		for a := range w {
			total -= stiff[a] / 2 * (w[a] - near[a]) * (w[a] - near[a])
		}
		return total
	}
	score := objective(w)
	for step := range 30 {
		var gradient [n]float64
		var hessian [n * n]float64
		for _, l := range lessons {
			var mean [features]float64
			p, x := l.chances(w, phi), phi[l.trial]
			for c, v := range p {
				floats.AddScaled(mean[:], v, x[c][:])
			}
			factor := [2]float64{1, l.surprise}
			var square [features * features]float64
			for c, v := range p {
				for a := range features {
					d := v * (x[c][a] - mean[a])
					for b := range features {
						square[a*features+b] += d * (x[c][b] - mean[b])
					}
				}
			}
			for a := range n {
				gradient[a] += factor[a/features] * (x[l.truth][a%features] - mean[a%features])
				for b := range n {
					hessian[a*n+b] += factor[a/features] * factor[b/features] * square[a%features*features+b%features]
				}
			}
		}
		for a := range n {
			if step == 0 {
				stiff[a] = hold*hessian[a*n+a]/float64(len(lessons)) + 1e-9
			}
			gradient[a] -= stiff[a] * (w[a] - near[a])
			hessian[a*n+a] += stiff[a]
		}
		var chol mat.Cholesky
		var move mat.VecDense
		if !chol.Factorize(mat.NewSymDense(n, hessian[:])) || chol.SolveVecTo(&move, mat.NewVecDense(n, gradient[:])) != nil {
			break
		}
		moved, share, next := w, 1.0, 0.0
		for ; share > 1e-6; share /= 2 {
			for a := range w {
				moved[a] = max(-maxWeight, min(maxWeight, w[a]+share*move.AtVec(a)))
			}
			if next = objective(moved); next >= score {
				break
			}
		}
		if share <= 1e-6 {
			break
		}
		gain := next - score
		if w, score = moved, next; gain < 1e-6 {
			break
		}
	}
	return w, score
}
