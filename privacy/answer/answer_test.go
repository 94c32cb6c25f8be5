// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

func plan(eps float64, round, people int) *answer.Plan {
	p := &answer.Plan{Question: answer.Question{Rumour: "heard", Round: round, Epsilon: eps}, GraphDigest: privacy.Digest{7}}
	for i := range people {
		p.People = append(p.People, privacy.Sensor{Node: i, ID: graph.ID(fmt.Sprint("p", i))})
	}
	return p
}

func escrowed(eps float64, round, people int) (*answer.Plan, *privacy.Escrow) {
	p := plan(eps, round, people)
	p.Randomness = privacy.EscrowRandomness
	e, err := privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "test", 1)
	if err != nil {
		panic(err)
	}
	return p, e
}

func yes(t testing.TB, r *answer.Release) (list []bool) {
	t.Helper()
	for _, a := range r.Answers() {
		list = append(list, a.Yes)
	}
	return list
}

// TestAttackOnAnswers: the most powerful attack on one answer guesses that it is true. On 1,000,000
// answers to each truth it shows nearly all of ε, and never more; the coins of neighbours in the list
// are independent. The same in fewer answers at other ε.
func TestAttackOnAnswers(t *testing.T) {
	for _, c := range []struct {
		eps, least float64
		n          int
	}{{1, 0.98, 1_000_000}, {0.1, 0.05, 100_000}, {2, 1.94, 100_000}, {4, 3.7, 100_000}} {
		t.Run(fmt.Sprint("ε = ", c.eps), func(t *testing.T) {
			n := c.n
			cryptotest.SetGlobalRandom(t, 61)
			p := plan(c.eps, 1, n)
			count, agree := [2]int{}, 0
			for side, truth := range []bool{true, false} {
				list := yes(t, must.Get(p.Answer(slices.Repeat([]bool{truth}, n), "r", nil))(t))
				for i, a := range list {
					if a {
						count[side]++
					}
					if side == 0 && i%2 == 1 && a == list[i-1] {
						agree++
					}
				}
			}
			const alpha = 1e-7
			lo, _ := audit.ClopperPearson(count[0], n, alpha)
			_, hi := audit.ClopperPearson(count[1], n, alpha)
			if eps := math.Log(lo / hi); eps > c.eps || eps < c.least {
				t.Errorf("the attack shows ε ≥ %.4f, want from %v to %v", eps, c.least, c.eps)
			}
			f := p.Flip()
			for what, seen := range map[string]struct {
				k, n int
				p    float64
			}{"yes of true": {count[0], n, 1 - f}, "yes of false": {count[1], n, f}, "pairs alike": {agree, n / 2, f*f + (1-f)*(1-f)}} {
				if lo, hi := audit.ClopperPearson(seen.k, seen.n, alpha); seen.p < lo || seen.p > hi {
					t.Errorf("%s: %d of %d, want a share of %.5f", what, seen.k, seen.n, seen.p)
				}
			}
		})
	}
}

// TestTwoRounds: the best attacks on two rounds tell two histories of a person apart by what the proof says: by 2ε where
// both truths differ, by ε where one does. A person whose answer changes from no to yes may have the truth of either.
func TestTwoRounds(t *testing.T) {
	const n, eps, alpha = 200_000, 1.0, 1e-7
	cryptotest.SetGlobalRandom(t, 61)
	// said counts who gives these answers in two rounds, of n people with these truths.
	said := func(truths, answers [2]bool) (k int) {
		var rounds [2][]bool
		for r, truth := range truths {
			rounds[r] = yes(t, must.Get(plan(eps, r+1, n).Answer(slices.Repeat([]bool{truth}, n), "r", nil))(t))
		}
		for i := range n {
			if rounds[0][i] == answers[0] && rounds[1][i] == answers[1] {
				k++
			}
		}
		return k
	}
	never, changed, always := [2]bool{false, false}, [2]bool{false, true}, [2]bool{true, true}
	for _, c := range []struct {
		name          string
		likely, other [2]bool
		answers       [2]bool
		least, most   float64
	}{
		{"always against never, yes twice", always, never, always, 1.9 * eps, 2 * eps},
		{"changed against never, no and yes", changed, never, changed, 0.94 * eps, eps},
		{"changed against always, no and yes", changed, always, changed, 0.94 * eps, eps},
		{"always against never, no and yes", always, never, changed, -0.06, 0},
	} {
		lo, _ := audit.ClopperPearson(said(c.likely, c.answers), n, alpha)
		_, hi := audit.ClopperPearson(said(c.other, c.answers), n, alpha)
		if got := math.Log(lo / hi); got < c.least || got > c.most {
			t.Errorf("%s: the attack shows ε ≥ %.4f, want from %v to %v", c.name, got, c.least, c.most)
		}
	}
}

// TestCoinsLookAtNoTruth: from one state of the system's generator the coins are the same for all
// truths, and each truth is turned round by its own.
func TestCoinsLookAtNoTruth(t *testing.T) {
	p, truths := plan(0.5, 1, 200), make([]bool, 200)
	cryptotest.SetGlobalRandom(t, 5)
	flips := yes(t, must.Get(p.Answer(truths, "r", nil))(t))
	for i := range truths {
		truths[i] = i%3 == 0
	}
	cryptotest.SetGlobalRandom(t, 5)
	for i, a := range yes(t, must.Get(p.Answer(truths, "r", nil))(t)) {
		if a != (flips[i] != truths[i]) {
			t.Errorf("person %d: yes is %v, truth %v, coin %v", i, a, truths[i], flips[i])
		}
	}
}

// TestRoundsAreCharged: each person pays ε a round, whatever they say; a cap of 2ε has room for two rounds,
// and for those who join later; neither heat nor another sum shares the account.
func TestRoundsAreCharged(t *testing.T) {
	ctx := context.Background()
	var l privacy.MemoryLedger
	const eps = 0.7
	must.Get(privacy.SetCap(ctx, &l, "heard", privacy.Budget{Epsilon: 2 * eps, Delta: 1e-9}))(t)
	spend := func(p *answer.Plan, id string) (privacy.Entry, error) {
		return privacy.Spend(ctx, &l, must.Get(p.Charge("heard", id, "token"))(t))
	}
	var entries []privacy.Entry
	for round := 1; round <= 2; round++ {
		entries = append(entries, must.Get(spend(plan(eps, round, 3), fmt.Sprint(round)))(t))
		a := must.Get(privacy.ReadAccount(ctx, &l, "heard"))(t)
		if len(a.Sensors) != 3 {
			t.Errorf("%d people have paid, want 3", len(a.Sensors))
		}
		if got := must.Get(a.Epsilon(1e-9))(t); got > float64(round)*eps || got < float64(round)*eps-1e-11 {
			t.Errorf("after round %d the account has ε = %v, want %v", round, got, float64(round)*eps)
		}
	}
	if _, err := spend(plan(eps, 3, 3), "3"); !errors.Is(err, privacy.ErrExhausted) || errors.Is(err, privacy.ErrOverBudget) {
		t.Errorf("a third round: %v, want ErrExhausted", err)
	}
	if _, err := spend(plan(3*eps, 3, 1), "4"); !errors.Is(err, privacy.ErrOverBudget) {
		t.Errorf("an answer of three times ε: %v, want ErrOverBudget", err)
	}
	late := plan(eps, 2, 4)
	late.People = late.People[3:]
	must.Get(spend(late, "late"))(t)
	heat := ledgertest.Charge("heard", "heat", "x", 1<<20)
	if _, err := privacy.Spend(ctx, &l, heat); !errors.Is(err, privacy.ErrGuarantee) {
		t.Errorf("heat in the account of a rumour: %v, want ErrGuarantee", err)
	}
	b := must.Get(privacy.Balances(ctx, &l, []string{"heard"}, 0))(t)[0]
	if b.Guarantee != "perPerson" ||
		b.Rho != 0 || b.RemainingRho != nil || *b.RemainingEpsilon > 1e-11 || math.Abs(*b.Epsilon-2*eps) > 1e-11 {
		t.Errorf("balance %+v, want ε = %v and nothing left", b, 2*eps)
	}
	r := must.Get(plan(eps, 1, 3).Answer(make([]bool, 3), "1", nil))(t)
	must.Do(t, answer.VerifyEntry(r, entries[0]))
	if err := answer.VerifyEntry(r, entries[1]); !errors.Is(err, privacy.ErrMismatch) {
		t.Errorf("the payment of another release: %v, want ErrMismatch", err)
	}
}

// TestChargesOfAnswersAreChecked: a charge below ε for anybody, or of another form, is refused.
func TestChargesOfAnswersAreChecked(t *testing.T) {
	for name, change := range map[string]func(*privacy.Charge){
		"a cheaper person":  func(c *privacy.Charge) { c.Sensors["p1"]-- },
		"a cheaper release": func(c *privacy.Charge) { c.Cost--; clear(c.Sensors); c.Sensors["p0"] = c.Cost },
		"half of ε":         func(c *privacy.Charge) { c.Budget.Epsilon /= 2 },
		"a δ":               func(c *privacy.Charge) { c.Budget.Delta = 1e-9 },
		"a failure":         func(c *privacy.Charge) { c.Failure = 1e-9 },
		"nobody":            func(c *privacy.Charge) { c.Sensors = nil },
		"no ε":              func(c *privacy.Charge) { c.Budget.Epsilon = math.NaN() },
	} {
		c := must.Get(plan(1, 1, 3).Charge("heard", "r", "token"))(t)
		change(&c)
		if _, err := privacy.Spend(context.Background(), new(privacy.MemoryLedger), c); !errors.Is(err, privacy.ErrInput) {
			t.Errorf("%s: %v, want ErrInput", name, err)
		}
	}
}

// TestKeep: of several releases the answer of the latest round is kept; who has one of a round is not asked in it
// again; two answers in one round are refused.
func TestKeep(t *testing.T) {
	first := must.Get(plan(1, 1, 3).Answer([]bool{true, false, true}, "a", nil))(t)
	p := plan(1, 2, 5)
	second := must.Get((&answer.Plan{Question: p.Question, People: p.People[2:4]}).Answer([]bool{true, true}, "b", nil))(t)
	kept := must.Get(answer.Keep("heard", second, first))(t)
	for i, want := range []int{1, 1, 2, 2, 0} {
		if got := kept[p.People[i].ID].Round; got != want {
			t.Errorf("person %d has an answer of round %d, want %d", i, got, want)
		}
	}
	if kept["p2"].Yes != second.Answers()[0].Yes || kept["p0"].Yes != first.Answers()[0].Yes {
		t.Error("the kept answers are not those that were released")
	}
	for round, want := range map[int]string{1: "[{4 p4}]", 2: "[{0 p0} {1 p1} {4 p4}]"} {
		if got := fmt.Sprint(kept.Unasked(p.People, round)); got != want {
			t.Errorf("round %d asks %s, want %s", round, got, want)
		}
	}
	again := must.Get(plan(1, 1, 3).Answer(make([]bool, 3), "c", nil))(t)
	if _, err := answer.Keep("heard", first, again); !errors.Is(err, privacy.ErrReplay) {
		t.Errorf("a second answer in a round: %v, want ErrReplay", err)
	}
	if _, err := answer.Keep("another", first); !errors.Is(err, privacy.ErrMismatch) {
		t.Errorf("an answer about another rumour: %v, want ErrMismatch", err)
	}
}

// TestRefusedQuestions: an ε that is not finite and above 0, and lists that ask nobody or somebody twice.
func TestRefusedQuestions(t *testing.T) {
	for name, change := range map[string]func(*answer.Plan){
		"ε 0": func(p *answer.Plan) { p.Epsilon = 0 }, "ε −1": func(p *answer.Plan) { p.Epsilon = -1 },
		"ε NaN": func(p *answer.Plan) { p.Epsilon = math.NaN() }, "ε ∞": func(p *answer.Plan) { p.Epsilon = math.Inf(1) },
		"round 0": func(p *answer.Plan) { p.Round = 0 }, "no rumour": func(p *answer.Plan) { p.Rumour = "" },
		"a line end": func(p *answer.Plan) { p.Rumour = "a\nround=1" }, "randomness": func(p *answer.Plan) { p.Randomness = 9 },
		"nobody": func(p *answer.Plan) { p.People = nil }, "a node twice": func(p *answer.Plan) { p.People[1].Node = 0 },
		"an id twice": func(p *answer.Plan) { p.People[1].ID = "p0" }, "no id": func(p *answer.Plan) { p.People[1].ID = "" },
		"escrow without key": func(p *answer.Plan) { p.Randomness = privacy.EscrowRandomness },
		"a truth too few":    func(p *answer.Plan) { p.People = p.People[:2] },
	} {
		p := plan(1, 1, 3)
		change(p)
		if r, err := p.Answer(make([]bool, 3), "r", nil); err == nil || r != nil {
			t.Errorf("%s: answers are drawn", name)
		}
	}
	if r, err := plan(1, 1, 1).Answer([]bool{true}, "", nil); err == nil || r != nil {
		t.Error("answers are drawn without a release id")
	}
}

// TestAlteredAnswers: a plan and a release read back are the same, and one of which a part was changed is refused.
func TestAlteredAnswers(t *testing.T) {
	p, e := escrowed(1, 2, 3)
	r := must.Get(p.Answer([]bool{true, false, true}, "night 1", e))(t)
	data := must.Get(json.Marshal(r))(t)
	var again answer.Release
	must.Do(t, json.Unmarshal(data, &again))
	if must.Get(again.Digest())(t) != must.Get(r.Digest())(t) || answer.Verify(&again, p) != nil {
		t.Error("a release that was read back is another one")
	}
	for _, alter := range [][2]string{
		{`"flip":`, `"flip":1`},
		{`"epsilon":1`, `"epsilon":2`},
		{`"round":2`, `"round":1`},
		{`"yes":true`, `"yes":false`},
		{`"yes":false`, `"yes":true`},
		{`"nodeId":"p1"`, `"nodeId":"p9"`},
		{`δ = 0`, `δ = 1`},
		{`"nonce":"`, `"nonse":"`},
		{`"deployment":"test"`, `"deployment":"toast"`},
		{`"epoch":1`, `"epoch":2`},
		{`"night 1"`, `"night 2"`},
		{`"schemaVersion":1`, `"schemaVersion":2`},
		{`perPerson`, `joint`},
		{`randomizedResponse`, `roundedGaussian`},
	} {
		changed := strings.Replace(string(data), alter[0], alter[1], 1)
		if changed == string(data) {
			continue // all answers are alike
		}
		if err := json.Unmarshal([]byte(changed), new(answer.Release)); err == nil {
			t.Errorf("a release with %s for %s is read", alter[1], alter[0])
		}
	}
	if err := answer.Verify(r, plan(1, 2, 3)); !errors.Is(err, privacy.ErrMismatch) {
		t.Errorf("a release under another plan: %v, want ErrMismatch", err)
	}
}

// TestRevealAnswers: the master secret turns all answers back, another one or a changed answer none.
func TestRevealAnswers(t *testing.T) {
	p, e := escrowed(0.3, 1, 60)
	truths := make([]bool, 60)
	for i := range truths {
		truths[i] = i%4 == 1
	}
	r := must.Get(p.Answer(truths, "r", e))(t)
	if got := must.Get(r.Reveal(e))(t); !slices.Equal(got, truths) {
		t.Errorf("revealed %v, want %v", got, truths)
	}
	if slices.Equal(yes(t, r), truths) {
		t.Error("no answer was turned round")
	}
	for name, key := range map[string]*privacy.Escrow{
		"another epoch":  must.Get(privacy.NewEscrow(bytes.Repeat([]byte{1}, privacy.KeySize), "test", 2))(t),
		"another secret": must.Get(privacy.NewEscrow(bytes.Repeat([]byte{2}, privacy.KeySize), "test", 1))(t),
	} {
		if got, err := r.Reveal(key); !errors.Is(err, privacy.ErrReveal) || got != nil {
			t.Errorf("%s: %v, %v, want ErrReveal", name, got, err)
		}
	}
	system := must.Get(plan(1, 1, 1).Answer([]bool{true}, "r", nil))(t)
	if _, err := system.Reveal(e); !errors.Is(err, privacy.ErrReveal) {
		t.Errorf("coins of the system: %v, want ErrReveal", err)
	}
}

// TestAnswersOfKeysAreIndependent: people, rounds, rumours, releases and truths have coins of their own.
func TestAnswersOfKeysAreIndependent(t *testing.T) {
	const n = 20_000
	p, e := escrowed(0.5, 1, n)
	flips := func(change func(*answer.Plan), id string, truth bool) []bool {
		q := *p
		change(&q)
		list := yes(t, must.Get(q.Answer(slices.Repeat([]bool{truth}, n), id, e))(t))
		for i := range list {
			list[i] = list[i] != truth
		}
		return list
	}
	same := func(*answer.Plan) {}
	base := flips(same, "r", false)
	f := p.Flip()
	for name, other := range map[string][]bool{
		"another round":   flips(func(q *answer.Plan) { q.Round = 2 }, "r", false),
		"another rumour":  flips(func(q *answer.Plan) { q.Rumour = "seen" }, "r", false),
		"another release": flips(same, "s", false),
		"another truth":   flips(same, "r", true),
		"the next person": append(base[1:], base[0]),
	} {
		agree := 0
		for i := range base {
			if base[i] == other[i] {
				agree++
			}
		}
		if lo, hi := audit.ClopperPearson(agree, n, 1e-7); f*f+(1-f)*(1-f) < lo || f*f+(1-f)*(1-f) > hi {
			t.Errorf("%s: %d of %d coins agree, want a share of %.4f", name, agree, n, f*f+(1-f)*(1-f))
		}
	}
}

// TestCollect: what people send makes a release in the order of the plan, without those who sent nothing.
func TestCollect(t *testing.T) {
	p, e := escrowed(1, 1, 4)
	packages := must.Get(p.Packages("r", 2, "test", 1))(t)
	var values []answer.Value
	for _, i := range []int{3, 0, 1} {
		key := must.Get(e.SensorKey(string(p.People[i].ID)))(t)
		values = append(values, must.Get(packages[i].Draw(i == 1, key))(t))
	}
	r := must.Get(p.Collect(values))(t)
	if got := must.Get(r.Reveal(e))(t); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("revealed %v, want those of p0, p1 and p3", got)
	}
	for name, change := range map[string]func(v *answer.Value){
		"another plan": func(v *answer.Value) { v.Plan[0]++ }, "another release": func(v *answer.Value) { v.ReleaseID = "s" },
		"twice": func(v *answer.Value) { v.ID = "p0" }, "a stranger": func(v *answer.Value) { v.ID = "p9" },
		"another epoch": func(v *answer.Value) { v.Epoch = 2 }, "another version": func(v *answer.Value) { v.SchemaVersion = 2 },
	} {
		changed := slices.Clone(values)
		change(&changed[2])
		if _, err := p.Collect(changed); !errors.Is(err, privacy.ErrMismatch) {
			t.Errorf("%s: %v, want ErrMismatch", name, err)
		}
	}
	if _, err := packages[0].Draw(true, nil); err == nil {
		t.Error("an answer of escrow is drawn without a key")
	}
	if _, err := p.Packages("r", 0.5, "test", 1); err == nil {
		t.Error("a limit below ε is accepted")
	}
}
