// SPDX-License-Identifier: Apache-2.0

package privacy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/ledgertest"
)

const unit privacy.Cost = 1 << 30

func pay(t *testing.T, l privacy.Ledger, scope, id string) {
	t.Helper()
	must.Get(privacy.Spend(context.Background(), l, ledgertest.Charge(scope, id, "a", unit)))(t)
}

// notebook is high-water marks in memory.
type notebook struct {
	marks map[string]privacy.Mark
	full  bool // nothing more can be written
}

func (n *notebook) Marks(names []string, scope string) (marks []privacy.Mark, err error) {
	for _, name := range names {
		if m, ok := n.marks[name+"/"+scope]; ok {
			marks = append(marks, m)
		}
	}
	return marks, nil
}

func (n *notebook) Scopes(names []string) (scopes []string, err error) {
	for key := range n.marks {
		if name, scope, _ := strings.Cut(key, "/"); slices.Contains(names, name) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

func (n *notebook) Put(names []string, scope string, m privacy.Mark) error {
	if n.full {
		return errors.New("the disk is full")
	}
	if n.marks == nil {
		n.marks = make(map[string]privacy.Mark)
	}
	for _, name := range names {
		further, err := m.Follows(n.marks[name+"/"+scope])
		if err != nil {
			return err
		}
		if further {
			m.Heads = slices.Clone(m.Heads)
			n.marks[name+"/"+scope] = m
		}
	}
	return nil
}

// shelf is a place for ledgers: each copy of one has its identity.
type shelf struct {
	*privacy.MemoryLedger
	id privacy.Identity
}

func (s shelf) Identity(context.Context) (privacy.Identity, error) { return s.id, nil }

// copyOf returns a ledger with the first keep entries of a scope.
func copyOf(t *testing.T, l privacy.Ledger, scope string, keep int, id privacy.Identity) shelf {
	t.Helper()
	ctx := context.Background()
	entries := must.Get(l.Entries(ctx, scope))(t)
	var m privacy.MemoryLedger
	for _, e := range entries[:keep] {
		if err := m.Update(ctx, scope, e.ReleaseID,
			func(privacy.Account, []privacy.Entry) (*privacy.Entry, error) { return &e, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return shelf{&m, id}
}

func watch(t *testing.T, l privacy.Ledger, n *notebook) privacy.Ledger {
	return privacy.Watch(l, n, func(err error) { t.Errorf("missed: %v", err) })
}

// TestWatchRefusesALedgerThatWentBack restores a ledger of six entries to every
// earlier state, under each of its two names, and spends from it; reconciled, it has
// spent exactly what was spent.
func TestWatchRefusesALedgerThatWentBack(t *testing.T) {
	ctx := context.Background()
	whole := privacy.Identity{Ledger: "id", Place: "here"}
	limit := privacy.Budget{Epsilon: 9, Delta: 1e-5}
	for _, id := range []privacy.Identity{whole, {Ledger: "id", Place: "elsewhere"}, {Ledger: "new", Place: "here"}} {
		for keep := range 7 {
			t.Run(fmt.Sprintf("%s at %s, %d entries", id.Ledger, id.Place, keep), func(t *testing.T) {
				var n notebook
				original := shelf{new(privacy.MemoryLedger), whole}
				l := watch(t, original, &n)
				for i := range 5 {
					pay(t, l, "s", fmt.Sprint(i))
				}
				must.Get(privacy.SetCap(ctx, l, "s", limit))(t)
				restored := copyOf(t, original, "s", keep, id)
				_, err := privacy.Spend(ctx, watch(t, restored, &n), ledgertest.Charge("s", "x", "a", unit))
				if keep == 6 {
					if err != nil {
						t.Errorf("a whole copy: %v", err)
					}
					return
				}
				if !errors.Is(err, privacy.ErrRollback) {
					t.Fatalf("a spend: %v, want ErrRollback", err)
				}
				for _, m := range n.marks {
					must.Get(privacy.Reconcile(ctx, restored, "s", m))(t)
				}
				a, err := privacy.VerifyLedger(ctx, restored, "s")
				if err != nil || a.Spent != 5*unit || a.Releases != 5 || a.Cap == nil || a.Cap.Budget != limit {
					t.Errorf("reconciled: %+v, %v, want five releases and the cap", a, err)
				}
				pay(t, watch(t, restored, &n), "s", "y")
				pay(t, watch(t, restored, &n), "s", "z")
			})
		}
	}
}

// TestWatchRefusesAnotherChain: behind a ledger that was watched, another chain takes its place,
// as long as the one before or longer. Nothing is spent from it.
func TestWatchRefusesAnotherChain(t *testing.T) {
	ctx := context.Background()
	for _, more := range []int{0, 1, 5} {
		var n notebook
		l := &shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}
		w := watch(t, l, &n)
		pay(t, w, "s", "1")
		l.MemoryLedger = new(privacy.MemoryLedger)
		for i := range 1 + more {
			pay(t, l.MemoryLedger, "s", fmt.Sprint("other ", i))
		}
		err := w.Update(ctx, "s", "2", func(privacy.Account, []privacy.Entry) (*privacy.Entry, error) {
			t.Errorf("%d entries more: a rule decides on another chain", more)
			return nil, nil
		})
		if !errors.Is(err, privacy.ErrRollback) {
			t.Errorf("an update with %d entries more: %v, want ErrRollback", more, err)
		}
		if _, err := privacy.ReadAccount(ctx, w, "s"); !errors.Is(err, privacy.ErrRollback) {
			t.Errorf("%d entries more: %v, want ErrRollback", more, err)
		}
		if _, err := privacy.Spend(ctx, w, ledgertest.Charge("s", "2", "a", unit)); !errors.Is(err, privacy.ErrRollback) {
			t.Errorf("a spend with %d entries more: %v, want ErrRollback", more, err)
		}
		if a, err := privacy.ReadAccount(ctx, l.MemoryLedger, "s"); err != nil || a.Releases != int64(1+more) {
			t.Errorf("%d entries more: %d releases, %v", more, a.Releases, err)
		}
	}
}

// TestMarksOfTwoChains: of two chains neither mark follows the other, whichever is longer.
func TestMarksOfTwoChains(t *testing.T) {
	var marks []privacy.Mark
	for i := range 3 {
		l := new(privacy.MemoryLedger)
		for k := range 1 + i {
			pay(t, l, "s", fmt.Sprint(i, k))
		}
		marks = append(marks, markOf(t, l, "s"))
	}
	for i, m := range marks {
		for k, before := range marks {
			further, err := m.Follows(before)
			if i == k && (err != nil || !further) || i != k && (further || !errors.Is(err, privacy.ErrRollback)) {
				t.Errorf("chain %d after chain %d: %v, %v", i, k, further, err)
			}
		}
	}
}

// TestWatchFindsClones spends from two clones in turn: neither forgets the other's.
func TestWatchFindsClones(t *testing.T) {
	ctx := context.Background()
	var n notebook
	id := privacy.Identity{Ledger: "id", Place: "a"}
	a := shelf{new(privacy.MemoryLedger), id}
	pay(t, watch(t, a, &n), "s", "1")
	b := copyOf(t, a, "s", 1, privacy.Identity{Ledger: "id", Place: "b"})
	pay(t, watch(t, b, &n), "s", "2")
	if _, err := privacy.Spend(ctx, watch(t, a, &n), ledgertest.Charge("s", "3", "a", unit)); !errors.Is(err, privacy.ErrRollback) {
		t.Fatalf("a spend from the other clone: %v, want ErrRollback", err)
	}
	if booked, err := privacy.Reconcile(ctx, a, "s", n.marks["id/s"]); err != nil || booked != unit {
		t.Errorf("booked %d, %v, want the clone's one release", booked, err)
	}
	pay(t, watch(t, a, &n), "s", "3")
	if account, err := privacy.VerifyLedger(ctx, a, "s"); err != nil || account.Spent != 3*unit {
		t.Errorf("%+v, %v, want what both spent", account, err)
	}
}

// TestMarksArePutBeforeTheSpend: where nothing can be remembered nothing is spent;
// what is spent by then is not an error any more.
func TestMarksArePutBeforeTheSpend(t *testing.T) {
	ctx := context.Background()
	l := shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id", Place: "a"}}
	pay(t, l, "s", "1")
	full := &notebook{full: true}
	if _, err := privacy.Spend(ctx, watch(t, l, full), ledgertest.Charge("s", "2", "a", unit)); err == nil {
		t.Error("a spend that cannot be remembered was granted")
	}
	if a, err := privacy.VerifyLedger(ctx, l, "s"); err != nil || a.Releases != 1 {
		t.Errorf("%+v, %v, want one release", a, err)
	}
	n, missed := new(notebook), 0
	w := privacy.Watch(l, n, func(error) { missed++ })
	must.Get(privacy.ReadAccount(ctx, w, "s"))(t)
	n.full = true
	pay(t, w, "s", "2")
	if missed != 1 {
		t.Errorf("%d marks were missed, want 1", missed)
	}
}

// TestMarksWantWhatWasSpent: an entry that names a lost head and books less than was
// seen does not pass.
func TestMarksWantWhatWasSpent(t *testing.T) {
	ctx := context.Background()
	var n notebook
	whole := shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}
	for i := range 3 {
		pay(t, watch(t, whole, &n), "s", fmt.Sprint(i))
	}
	restored := copyOf(t, whole, "s", 1, whole.id)
	m := n.marks["id/s"]
	cheap := m
	cheap.Account.Spent = unit
	must.Get(privacy.Reconcile(ctx, restored, "s", cheap))(t)
	entries, err := restored.Entries(ctx, "s")
	if err != nil || !privacy.Contains(entries, m.Account.Head) {
		t.Fatalf("the lost head is not named: %v", err)
	}
	if err := m.Check("s", entries); !errors.Is(err, privacy.ErrRollback) {
		t.Errorf("a chain that books too little: %v, want ErrRollback", err)
	}
}

// TestReconcileCountsSensorsAndCertificates: each sensor gets back its own, and a
// certificate that both chains know fails once.
func TestReconcileCountsSensorsAndCertificates(t *testing.T) {
	ctx := context.Background()
	var n notebook
	whole := shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}
	for i := range 4 {
		c := ledgertest.Charge("s", fmt.Sprint(i), "a", unit)
		c.Guarantee, c.Sensors = privacy.PerSensor, map[string]privacy.Cost{"a": unit, fmt.Sprint("b", i%2): unit / 4}
		c.Certificate, c.Failure = privacy.Digest{byte(1 + i/3)}, 1e-13
		must.Get(privacy.Spend(ctx, watch(t, whole, &n), c))(t)
	}
	want := must.Get(privacy.ReplayLedger(ctx, whole, "s"))(t)
	for keep := range 4 {
		restored := copyOf(t, whole, "s", keep, whole.id)
		must.Get(privacy.Reconcile(ctx, restored, "s", n.marks["id/s"]))(t)
		got, err := privacy.VerifyLedger(ctx, restored, "s")
		if err != nil || got.Spent != want.Spent || !maps.Equal(got.Sensors, want.Sensors) ||
			!maps.Equal(got.Certificates, want.Certificates) {
			t.Errorf("%d entries: %+v, %v, want %+v", keep, got, err, want)
		}
	}
}

// markOf returns the mark of who has seen all of a chain.
func markOf(t *testing.T, l privacy.Ledger, scope string) privacy.Mark {
	t.Helper()
	var n notebook
	if _, err := watch(t, shelf{l.(*privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}, &n).Entries(context.Background(),
		scope); err != nil {
		t.Fatal(err)
	}
	return n.marks["id/"+scope]
}

func setCap(t *testing.T, l privacy.Ledger, scope string, epsilon float64) {
	t.Helper()
	must.Get(privacy.SetCap(context.Background(), l, scope, privacy.Budget{Epsilon: epsilon, Delta: 1e-5}))(t)
}

// TestReconcileRaisesNoCap reconciles the marks of two machines of which one has not
// seen that the cap was lowered, in either order.
func TestReconcileRaisesNoCap(t *testing.T) {
	ctx := context.Background()
	l := new(privacy.MemoryLedger)
	setCap(t, l, "s", 50)
	setCap(t, l, "s", 100)
	pay(t, l, "s", "1")
	early := markOf(t, l, "s")
	setCap(t, l, "s", 2)
	pay(t, l, "s", "2")
	late := markOf(t, l, "s")
	for keep := range 3 {
		for _, marks := range [][]privacy.Mark{{early, late}, {late, early}} {
			restored := copyOf(t, l, "s", keep, privacy.Identity{})
			for _, m := range marks {
				must.Get(privacy.Reconcile(ctx, restored, "s", m))(t)
			}
			a, err := privacy.VerifyLedger(ctx, restored, "s")
			if err != nil || a.Cap == nil || a.Cap.Epsilon != 2 {
				t.Errorf("%d entries: cap %v, %v, want that of ε = 2", keep, a.Cap, err)
			}
		}
	}
}

// TestNewScopeOfALostLedger: where all that is remembered of a ledger is gone, no scope that
// is new begins from nothing, also in a process that had looked at it before.
func TestNewScopeOfALostLedger(t *testing.T) {
	ctx := context.Background()
	var n notebook
	l := &shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id", Place: "here"}}
	w := watch(t, l, &n)
	pay(t, w, "a", "1")
	must.Get(privacy.ReadAccount(ctx, w, "b"))(t)
	*l = shelf{new(privacy.MemoryLedger), privacy.Identity{Place: "here"}}
	for name, w := range map[string]privacy.Ledger{"the same process": w, "another": watch(t, l, &n)} {
		if _, err := privacy.Spend(ctx, w, ledgertest.Charge("b", "1", "a", unit)); !errors.Is(err, privacy.ErrRollback) {
			t.Errorf("%s: a spend of a new scope: %v, want ErrRollback", name, err)
		}
		if _, err := privacy.SetCap(ctx, w, "b", privacy.Budget{Epsilon: 1, Delta: 1e-5}); !errors.Is(err, privacy.ErrRollback) {
			t.Errorf("%s: a cap for a new scope: %v, want ErrRollback", name, err)
		}
	}
	if all, err := watch(t, l, &n).All(ctx); !errors.Is(err, privacy.ErrRollback) || all != nil {
		t.Errorf("all chains, without one that was seen: %v, %v, want ErrRollback", all, err)
	}
	if scopes, err := l.Scopes(ctx); err != nil || len(scopes) > 0 {
		t.Errorf("scopes %q, %v, want none", scopes, err)
	}
	must.Get(privacy.Reconcile(ctx, l, "a", n.marks["here/a"]))(t)
	pay(t, watch(t, l, &n), "b", "1")
}

// repeating is a ledger that loses the answer to its first commit, and repeats it.
type repeating struct{ shelf }

func (l repeating) Update(ctx context.Context, scope, releaseID string, rule privacy.Rule) error {
	if err := l.shelf.Update(ctx, scope, releaseID, rule); err != nil {
		return err
	}
	return l.shelf.Update(ctx, scope, releaseID, rule)
}

// TestRepeatedSpendIsASpend: a mark that cannot be put after a commit whose answer was
// lost does not make the spend one that did not happen.
func TestRepeatedSpendIsASpend(t *testing.T) {
	n, missed := new(notebook), 0
	w := privacy.Watch(repeating{shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}}, n, func(error) { missed++ })
	n.full = true
	pay(t, w, "s", "1")
	if missed != 1 {
		t.Errorf("%d marks were missed, want 1", missed)
	}
}

// between is a store of marks that another process uses before it puts its first mark.
type between struct {
	*notebook
	other func()
}

func (b *between) Put(names []string, scope string, m privacy.Mark) error {
	if other := b.other; other != nil {
		b.other = nil
		other()
	}
	return b.notebook.Put(names, scope, m)
}

// TestAllMovesTheMarks: who reads all chains remembers each of them.
func TestAllMovesTheMarks(t *testing.T) {
	n := new(notebook)
	l := shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}
	pay(t, l, "a", "1")
	pay(t, l, "b", "1")
	w := watch(t, l, n)
	must.Get(w.All(context.Background()))(t)
	pay(t, l, "b", "2")
	must.Get(w.All(context.Background()))(t)
	if a, b := n.marks["id/a"], n.marks["id/b"]; a.Account.Entries != 1 || b.Account.Entries != 2 {
		t.Errorf("the marks have %d and %d entries, want 1 and 2", a.Account.Entries, b.Account.Entries)
	}
}

// TestMarksDoNotGoBack lets a second process spend and put its mark before the first
// one puts its own, and then the first one again.
func TestMarksDoNotGoBack(t *testing.T) {
	n := new(notebook)
	l := shelf{new(privacy.MemoryLedger), privacy.Identity{Ledger: "id"}}
	b := &between{notebook: n}
	first, second := privacy.Watch(l, b, func(err error) { t.Error(err) }), watch(t, l, n)
	b.other = func() { pay(t, second, "s", "2") }
	pay(t, first, "s", "1")
	if m := n.marks["id/s"]; m.Account.Entries != 2 {
		t.Errorf("the mark has %d entries, the ledger 2", m.Account.Entries)
	}
	pay(t, first, "s", "3")
	if m := n.marks["id/s"]; m.Account.Entries != 3 || len(m.Heads) != 3 {
		t.Errorf("the mark has %d entries and %d heads, the ledger 3", m.Account.Entries, len(m.Heads))
	}
}
