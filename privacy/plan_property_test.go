// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
)

// whitened returns max over the rows d of ‖diag(√u)·d‖₂.
func whitened(rows [][]float64, u []float64) float64 {
	var worst float64
	for _, d := range rows {
		var sum float64
		for s, x := range d {
			sum += u[s] * x * x
		}
		worst = max(worst, math.Sqrt(sum))
	}
	return worst
}

// TestFinalCheck repeats the final check of allocated plans with exact arithmetic:
// for u_s = 1/σ_s² and every row d of differences,
//
//	‖diag(√u)·d‖₂ + √Σ(g_s + 2η)²u_s ≤ 1/r  (2η₂·√max u for a 2-norm error).
func TestFinalCheck(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 60 {
		m, edges := 1+rng.IntN(9), 1+rng.IntN(12)
		rows := make([][]float64, edges)
		for e := range rows {
			rows[e] = make([]float64, m)
			for s := range rows[e] {
				rows[e][s] = rng.NormFloat64() * math.Pow(10, -3*rng.Float64())
			}
		}
		spec := testSpec(m)
		spec.Weights = make([]float64, m)
		for s := range spec.Weights {
			spec.Weights[s] = math.Pow(10, 6*rng.Float64()-3)
		}
		spec.Weights[0] = 1
		upper := whitened(rows, spec.Weights) * (1 + 1e-12)
		spec.Sensitivity = Sensitivity{Upper: upper}
		switch rng.IntN(3) {
		case 1:
			spec.EntryError = upper * 1e-3 / math.Sqrt(float64(m))
		case 2:
			spec.NormError = upper * 1e-3
		}
		for i := range spec.Weights {
			if rng.IntN(4) == 0 && i > 0 {
				spec.Weights[i] = 0
			}
		}
		if rng.IntN(2) == 0 { // a coarse grid: rounding is a real part of Δ'
			spec.Clip = Interval{-0x1p50, 0x1p59 * upper}
		}
		p, err := NewPlan(spec)
		if errors.Is(err, ErrImprecise) {
			continue
		}
		must.Do(t, err)
		if left := exactMu(p, rows, spec.Weights); left > 1/mustRatio(t, p) || left > p.Mu {
			t.Errorf("m = %d: the noise has μ = %v, want at most %v, and at most the stated %v", m, left, 1/mustRatio(t, p), p.Mu)
		} else if left < p.Mu*0.6 {
			t.Logf("μ = %v of %v is used", left, p.Mu)
		}
	}
}

func mustRatio(t *testing.T, p *Plan) float64 {
	return must.Get(p.ratio())(t)
}

// exactMu evaluates the left side with 200 bits; weights marks the silent sensors.
func exactMu(p *Plan, rows [][]float64, weights []float64) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(200).Mul(a, b) }
	var reporting []int
	for s, u := range weights {
		if u > 0 {
			reporting = append(reporting, s)
		}
	}
	worst, rounding, largest := f(0), f(0), f(0)
	for k, s := range p.Sensors {
		inv := new(big.Float).SetPrec(200).Quo(f(1), f(s.Sigma()))
		e := mul(f(s.Step()+2*p.EntryError), inv)
		rounding.Add(rounding, mul(e, e))
		if inv.Cmp(largest) > 0 {
			largest = inv
		}
		_ = k
	}
	for _, d := range rows {
		sum := f(0)
		for k, s := range p.Sensors {
			x := new(big.Float).SetPrec(200).Quo(f(d[reporting[k]]), f(s.Sigma()))
			sum.Add(sum, mul(x, x))
		}
		if sum.Cmp(worst) > 0 {
			worst = sum
		}
	}
	left := new(big.Float).SetPrec(200).Sqrt(worst)
	left.Add(left, new(big.Float).SetPrec(200).Sqrt(rounding))
	left.Add(left, mul(f(2*p.NormError), largest))
	x, _ := left.Float64()
	return x
}

// TestPerSensorPlan: each sensor's own worst difference, rounding and computing
// error stay below 1/r, and the joint μ bounds the joint norm.
func TestPerSensorPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 40 {
		m := 2 + rng.IntN(8)
		rows := make([][]float64, 10)
		bounds := make([]float64, m)
		ones := make([]float64, m)
		for e := range rows {
			rows[e] = make([]float64, m)
			for s := range rows[e] {
				rows[e][s] = rng.NormFloat64()
				bounds[s] = max(bounds[s], math.Abs(rows[e][s]))
			}
		}
		for s := range ones {
			ones[s] = 1
		}
		spec := testSpec(m)
		spec.Guarantee, spec.PerSensor, spec.EntryError = PerSensor, bounds, 1e-4
		spec.Sensitivity = Sensitivity{Upper: whitened(rows, ones) * (1 + 1e-12)}
		p := mustPlan(t, spec)
		r := mustRatio(t, p)
		for s, n := range p.Sensors {
			if mu := (bounds[s] + n.Step() + 2e-4) / n.Sigma(); mu*r > 1 || mu > p.Mu {
				t.Errorf("sensor %d has μ = %v, want at most %v", s, mu, 1/r)
			}
		}
		for _, d := range rows {
			var sum float64
			for s, n := range p.Sensors {
				x := (math.Abs(d[s]) + n.Step() + 2e-4) / n.Sigma()
				sum += x * x
			}
			if mu := math.Sqrt(sum); mu > p.JointMu {
				t.Errorf("joint μ = %v, stated %v", mu, p.JointMu)
			}
		}
		c, err := p.Charge("scope", "r", "a")
		if err != nil || len(c.Sensors) != m {
			t.Errorf("%d sensors are charged (%v), want %d", len(c.Sensors), err, m)
		}
	}
}

// TestIsolatedSensor: a sensor that no edge reaches reports with the noise of the
// most sensitive one, and one of weight 0 does not report.
func TestIsolatedSensor(t *testing.T) {
	spec := testSpec(4)
	spec.Guarantee, spec.PerSensor, spec.Sensitivity = PerSensor, []float64{0, 0.5, 0.1, 0.2}, Sensitivity{}
	spec.Weights = []float64{1, 1, 1, 0}
	p := mustPlan(t, spec)
	if len(p.Sensors) != 3 || p.Sensors[0].Sigma() != p.Sensors[1].Sigma() {
		t.Errorf("σ of %d sensors is %v, want 3 and %v", len(p.Sensors), p.Sensors[0].Sigma(), p.Sensors[1].Sigma())
	}
}

// TestFailureIsTakenFromDelta: with β the noise is that of δ − β.
func TestFailureIsTakenFromDelta(t *testing.T) {
	spec := testSpec(2)
	spec.Delta, spec.Sensitivity.Failure = 1e-12, 1e-14
	with := mustPlan(t, spec)
	spec.Delta, spec.Sensitivity.Failure = 1e-12-1e-14, 0
	without := mustPlan(t, spec)
	if with.Sigma() < without.Sigma() || with.Sigma() > without.Sigma()*(1+1e-9) {
		t.Errorf("σ = %v with β, want just above %v", with.Sigma(), without.Sigma())
	}
	c, err := with.Charge("s", "r", "a")
	if err != nil || c.Failure != 1e-14 || c.Certificate == (Digest{}) {
		t.Errorf("charge %+v (%v), want β = 1e-14 with its certificate", c, err)
	}
}

func TestBadSpec(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, change := range map[string]func(*Spec){
		"ε = 0":             func(s *Spec) { s.Epsilon = 0 },
		"ε NaN":             func(s *Spec) { s.Epsilon = nan },
		"ε subnormal":       func(s *Spec) { s.Epsilon = 5e-324 },
		"δ = 0":             func(s *Spec) { s.Delta = 0 },
		"δ = 1":             func(s *Spec) { s.Delta = 1 },
		"δ subnormal":       func(s *Spec) { s.Delta = 5e-324 },
		"α = 0":             func(s *Spec) { s.Alpha = 0 },
		"α NaN":             func(s *Spec) { s.Alpha = nan },
		"α infinite":        func(s *Spec) { s.Alpha = inf },
		"τ = 0":             func(s *Spec) { s.Tau = 0 },
		"τ negative":        func(s *Spec) { s.Tau = -1 },
		"τ NaN":             func(s *Spec) { s.Tau = nan },
		"Δ₂ = 0":            func(s *Spec) { s.Sensitivity = Sensitivity{} },
		"Δ₂ NaN":            func(s *Spec) { s.Sensitivity.Upper = nan },
		"Δ₂ infinite":       func(s *Spec) { s.Sensitivity.Upper = inf },
		"Δ₂ huge":           func(s *Spec) { s.Sensitivity.Upper = 1e300 },
		"Δ₂ subnormal":      func(s *Spec) { s.Sensitivity = Sensitivity{Upper: 5e-324} },
		"bracket upside":    func(s *Spec) { s.Sensitivity.Lower = 1 },
		"β NaN":             func(s *Spec) { s.Sensitivity.Failure = nan },
		"β negative":        func(s *Spec) { s.Sensitivity.Failure = -1e-15 },
		"β too large":       func(s *Spec) { s.Sensitivity.Failure = 1e-11 },
		"β above δ/100":     func(s *Spec) { s.Delta, s.Sensitivity.Failure = 1e-11, 5e-13 },
		"no sensor":         func(s *Spec) { s.Sensors = nil },
		"all silent":        func(s *Spec) { s.Weights = []float64{0, 0, 0} },
		"weights short":     func(s *Spec) { s.Weights = []float64{1} },
		"weight negative":   func(s *Spec) { s.Weights = []float64{1, -1, 1} },
		"weight NaN":        func(s *Spec) { s.Weights = []float64{1, nan, 1} },
		"weight infinite":   func(s *Spec) { s.Weights = []float64{1, inf, 1} },
		"weight huge":       func(s *Spec) { s.Weights = []float64{1, 1e200, 1} },
		"duplicate sensor":  func(s *Spec) { s.Sensors[1].ID = s.Sensors[0].ID },
		"empty id":          func(s *Spec) { s.Sensors[1].ID = "" },
		"NUL in id":         func(s *Spec) { s.Sensors[1].ID = "a\x00" },
		"1 MB id":           func(s *Spec) { s.Sensors[1].ID = graph.ID(strings.Repeat("x", 1<<20)) },
		"id not UTF-8":      func(s *Spec) { s.Sensors[1].ID = "\xff" },
		"clip empty":        func(s *Spec) { s.Clip = Interval{1, 1} },
		"clip upside":       func(s *Spec) { s.Clip = Interval{1, 0} },
		"clip NaN":          func(s *Spec) { s.Clip = Interval{0, nan} },
		"clip infinite":     func(s *Spec) { s.Clip = Interval{0, inf} },
		"clip 1e308":        func(s *Spec) { s.Clip = Interval{0, 1e308} },
		"η NaN":             func(s *Spec) { s.EntryError = nan },
		"η negative":        func(s *Spec) { s.EntryError = -1 },
		"η₂ infinite":       func(s *Spec) { s.NormError = inf },
		"η swamps":          func(s *Spec) { s.EntryError = 0.1 },
		"η₂ swamps":         func(s *Spec) { s.NormError = 0.06 },
		"guarantee":         func(s *Spec) { s.Guarantee = 2 },
		"randomness":        func(s *Spec) { s.Randomness = -1 },
		"perSensor unbound": func(s *Spec) { s.Guarantee = PerSensor },
		"perSensor weight": func(s *Spec) {
			s.Guarantee, s.PerSensor, s.Weights = PerSensor, []float64{1, 1, 1}, []float64{1, -1, 1}
		},
		"perSensor zero":     func(s *Spec) { s.Guarantee, s.PerSensor = PerSensor, []float64{0, 0, 0} },
		"perSensor NaN":      func(s *Spec) { s.Guarantee, s.PerSensor = PerSensor, []float64{1, nan, 1} },
		"perSensor negative": func(s *Spec) { s.Guarantee, s.PerSensor = PerSensor, []float64{1, -1, 1} },
		"perSensor swamped":  func(s *Spec) { s.Guarantee, s.PerSensor, s.EntryError = PerSensor, []float64{1, 0.1, 1}, 0.06 },
		"paper not private":  func(s *Spec) { s.Calibration, s.Epsilon = Paper{}, 40 },
	} {
		s := testSpec(3)
		change(&s)
		p, err := NewPlan(s)
		if err == nil {
			t.Errorf("%s: a plan with σ = %v", name, p.Sigma())
			continue
		}
		if !strings.HasPrefix(err.Error(), "privacy: ") || len(err.Error()) > 4000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := testSpec(3)
	s.NormError = 0.06
	if _, err := NewPlan(s); !errors.Is(err, ErrImprecise) {
		t.Errorf("η₂ swamps: %v, want ErrImprecise", err)
	}
}

// TestRefusesTamperedPlans changes a plan's JSON in ways that would weaken it.
func TestRefusesTamperedPlans(t *testing.T) {
	data := must.Get(json.Marshal(mustPlan(t, testSpec(3))))(t)
	change := func(f func(map[string]any)) []byte {
		var d map[string]any
		must.Do(t, json.Unmarshal(data, &d))
		f(d)
		return must.Get(json.Marshal(d))(t)
	}
	sensor := func(d map[string]any) map[string]any { return d["sensors"].([]any)[0].(map[string]any) }
	for name, bad := range map[string][]byte{
		"σ halved": change(func(d map[string]any) {
			s := sensor(d)
			s["steps"] = s["steps"].(float64) / 2
			s["sigma"] = s["sigma"].(float64) / 2
		}),
		"steps and σ differ": change(func(d map[string]any) { s := sensor(d); s["steps"] = s["steps"].(float64) + 1 }),
		"Δ₂ larger":          change(func(d map[string]any) { d["sensitivity"].(map[string]any)["upper"] = 0.2 }),
		"ε smaller":          change(func(d map[string]any) { d["epsilon"] = 3 }),
		"μ understated":      change(func(d map[string]any) { d["mu"] = 1 }),
		"cost understated":   change(func(d map[string]any) { d["cost"] = 1 }),
		"calibration":        change(func(d map[string]any) { d["calibration"] = "paper" }),
		"no calibration":     change(func(d map[string]any) { d["calibration"] = "" }),
		"mechanism":          change(func(d map[string]any) { d["mechanism"] = "laplace" }),
		"schema":             change(func(d map[string]any) { d["schemaVersion"] = 2 }),
		"unknown field":      change(func(d map[string]any) { d["noise"] = false }),
		"digest":             change(func(d map[string]any) { d["graphDigest"] = "00" }),
		"truncated":          data[:len(data)-20],
		"two documents":      append(append([]byte(nil), data...), data...),
	} {
		var p Plan
		if err := json.Unmarshal(bad, &p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestRefusesTamperedReleases changes a release's JSON.
func TestRefusesTamperedReleases(t *testing.T) {
	r := must.Get(mustPlan(t, testSpec(3)).Perturb([]float64{0, 0.5, 1}, "r1", nil))(t)
	data := must.Get(json.Marshal(r))(t)
	value := func(d map[string]any) map[string]any { return d["values"].([]any)[1].(map[string]any) }
	for name, f := range map[string]func(map[string]any){
		"off the lattice": func(d map[string]any) { value(d)["value"] = 0.1 },
		"steps":           func(d map[string]any) { value(d)["steps"] = 7 },
		"sensor":          func(d map[string]any) { value(d)["nodeId"] = "zz" },
		"nonce":           func(d map[string]any) { value(d)["nonce"] = strings.Repeat("00", 16) },
		"id":              func(d map[string]any) { d["releaseId"] = "r2" },
		"missing":         func(d map[string]any) { d["values"] = d["values"].([]any)[1:] },
		"no plan":         func(d map[string]any) { d["plan"] = nil },
		"schema":          func(d map[string]any) { d["schemaVersion"] = 0 },
	} {
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		var d map[string]any
		must.Do(t, dec.Decode(&d))
		f(d)
		bad := must.Get(json.Marshal(d))(t)
		var q Release
		if err := json.Unmarshal(bad, &q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPerturbRefuses(t *testing.T) {
	p := mustPlan(t, testSpec(2))
	escrow := must.Get(NewEscrow(masterKey(), "d", 1))(t)
	for name, f := range map[string]func() (*Release, error){
		"NaN":        func() (*Release, error) { return p.Perturb([]float64{0, math.NaN()}, "r", nil) },
		"infinite":   func() (*Release, error) { return p.Perturb([]float64{0, math.Inf(-1)}, "r", nil) },
		"one short":  func() (*Release, error) { return p.Perturb([]float64{0}, "r", nil) },
		"no id":      func() (*Release, error) { return p.Perturb([]float64{0, 1}, "", nil) },
		"NUL id":     func() (*Release, error) { return p.Perturb([]float64{0, 1}, "a\x00", nil) },
		"escrow":     func() (*Release, error) { return p.Perturb([]float64{0, 1}, "r", escrow) },
		"empty plan": func() (*Release, error) { return new(Plan).Perturb(nil, "r", nil) },
	} {
		if r, err := f(); err == nil || r != nil {
			t.Errorf("%s: released", name)
		}
	}
	// A reading of 1e308 is clipped: refusing it would tell that it was large.
	if _, err := p.Perturb([]float64{-1e308, 1e308}, "r", nil); err != nil {
		t.Error(err)
	}
}

// TestRound checks ⌊y/2^k + ½⌋ where floating point rounds the wrong way.
func TestRound(t *testing.T) {
	clip := Interval{-1e15, 1e15}
	for _, c := range []struct {
		y    float64
		k    int
		want int64
	}{
		{0.5, 0, 1},
		{-0.5, 0, 0},
		{1.5, 0, 2},
		{-1.5, 0, -1},
		{0.49999999999999994, 0, 0},
		{-0.5000000000000001, 0, -1},
		{4503599627370497.5, 0, 1e15},
		{7, 2, 2},
		{6, 2, 2},
		{5.999, 2, 1},
		{5e-324, 0, 0},
		{-5e-324, 0, 0},
		{5e-324, 10, 0},
		{-5e-324, 10, 0},
		{-1e308, 0, -1e15},
		{0.1, -40, 109951162778},
	} {
		if got := clip.round(c.y, c.k); got != c.want {
			t.Errorf("round(%v/2^%d) = %d, want %d", c.y, c.k, got, c.want)
		}
	}
}

// TestReveal refuses everything but the right key and the untouched release.
func TestReveal(t *testing.T) {
	escrow := func(seed byte, deployment string, epoch uint32) *Escrow {
		key := masterKey()
		key[0] = seed
		return must.Get(NewEscrow(key, deployment, epoch))(t)
	}
	right := escrow(1, "d", 5)
	spec := testSpec(3)
	spec.Randomness = EscrowRandomness
	r := must.Get(mustPlan(t, spec).Perturb([]float64{0.1, 0.2, 0.3}, "r", right))(t)
	again := must.Get(r.plan.Perturb([]float64{0.1, 0.25, 0.3}, "r", right))(t)
	if r.x[0] != again.x[0] || r.nonces[0] != again.nonces[0] || r.nonces[1] == again.nonces[1] {
		t.Error("the same reading must repeat its noise, another reading must not")
	}
	for name, e := range map[string]*Escrow{"key": escrow(2, "d", 5), "deployment": escrow(1, "e", 5), "epoch": escrow(1, "d", 6)} {
		if y, err := e.Reveal(r); !errors.Is(err, ErrReveal) || y != nil {
			t.Errorf("another %s: %v, %v; want ErrReveal", name, y, err)
		}
	}
	r.x[2]++
	if y, err := right.Reveal(r); !errors.Is(err, ErrReveal) || y != nil {
		t.Errorf("tampered value: %v, %v; want ErrReveal", y, err)
	}
	r.x[2]--
	r.nonces[1][0] ^= 1
	if y, err := right.Reveal(r); !errors.Is(err, ErrReveal) || y != nil {
		t.Errorf("tampered nonce: %v, %v; want ErrReveal", y, err)
	}
	r.nonces[1][0] ^= 1
	r.id = "s"
	if _, err := right.Reveal(r); !errors.Is(err, ErrReveal) {
		t.Errorf("another release id: %v, want ErrReveal", err)
	}
}

// TestKeysDoNotPrint: no way of formatting shows a key.
func TestKeysDoNotPrint(t *testing.T) {
	e := must.Get(NewEscrow(masterKey(), "d", 1))(t)
	k := must.Get(e.SensorKey("s"))(t)
	for _, s := range []string{sprint(e), sprint(k), sprint(*k), sprint(*e)} {
		for _, secret := range [][]byte{e.root(), k.key()} {
			if containsKey(s, secret) {
				t.Errorf("%q shows a key", s)
			}
		}
	}
	if _, err := NewEscrow(make([]byte, KeySize), "d", 1); err == nil {
		t.Error("a master secret of zeros was taken")
	}
	if _, err := NewEscrow(masterKey()[:31], "d", 1); err == nil {
		t.Error("a short master secret was taken")
	}
	if _, err := NewSensorKey(nil); err == nil {
		t.Error("an empty sensor key was taken")
	}
}

// FuzzPlanJSON: what is read is valid and is written back to the same bytes.
func FuzzPlanJSON(f *testing.F) {
	for _, g := range []Guarantee{Joint, PerSensor} {
		s := testSpec(2)
		s.Guarantee, s.PerSensor = g, []float64{0.1, 0.2}
		data := must.Get(json.Marshal(mustPlan(f, s)))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Plan
		if json.Unmarshal(data, &p) != nil {
			return
		}
		must.Do(t, p.Validate())
		once := must.Get(json.Marshal(&p))(t)
		var q Plan
		if err := json.Unmarshal(once, &q); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		twice, err := json.Marshal(&q)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s became %s (%v)", once, twice, err)
		}
	})
}
