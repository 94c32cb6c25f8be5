// SPDX-License-Identifier: Apache-2.0

package privacy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Charge asks a ledger for one release.
type Charge struct {
	Scope     string    `json:"scope"`     // names the data that the budget protects
	ReleaseID string    `json:"releaseId"` // once a scope
	Attempt   string    `json:"attempt"`   // token of this attempt, from [NewAttempt]
	Plan      Digest    `json:"plan"`
	Guarantee Guarantee `json:"guarantee"`
	Budget    Budget    `json:"budget"` // of this release by itself
	Cost      Cost      `json:"cost"`   // joint, or of the worst sensor; ε where PerPerson, else ρ
	// Sensors holds the cost of each sensor of a PerSensor release, or of each person of a PerPerson one.
	Sensors map[string]Cost `json:"sensors,omitempty"`
	// NodeKey says what the ids of Sensors are: two keys give one sensor two ids.
	NodeKey string `json:"nodeKey,omitempty"`
	// PublicProperties are read without noise beside the release: none of them can be the secret
	// of a later one.
	PublicProperties []string `json:"publicProperties,omitempty"`
	// Certificate identifies the sensitivity certificate where it may fail, and
	// Failure is the probability β of that.
	Certificate Digest  `json:"certificate"`
	Failure     float64 `json:"failure"`
}

// Kind says what an entry records.
type Kind string

// Kinds of entries.
const (
	KindCap      Kind = "cap"      // the cap was set
	KindSpent    Kind = "spent"    // a release was paid for, before its noise was drawn
	KindWritten  Kind = "written"  // the release was written; Values is its digest
	KindVoid     Kind = "void"     // the release will never be written; it stays paid
	KindRevealed Kind = "revealed" // the noise was removed with the master secret
	// KindReconciled books what entries had spent that the chain has lost; see
	// [Reconcile].
	KindReconciled Kind = "reconciled"
)

// Entry is one link of a scope's chain. Entries are only ever appended.
type Entry struct {
	Seq  int64 `json:"seq"` // from 1, without gaps
	Kind Kind  `json:"kind"`
	// Time is when it was asked for, by the clock of the ledger, and no earlier than that
	// of the entry before; zero: an earlier version did not say.
	Time      time.Time `json:"time,omitzero"`
	Scope     string    `json:"scope"`
	ReleaseID string    `json:"releaseId,omitempty"`
	Charge    *Charge   `json:"charge,omitempty"` // KindSpent
	Cap       *Cap      `json:"cap,omitempty"`    // KindCap
	Values    *Digest   `json:"values,omitempty"` // KindWritten, KindRevealed
	// Account is what was lost, with the head that it was lost behind, and is added to this one. A cap in it
	// becomes the cap.
	Account *Account `json:"account,omitempty"` // KindReconciled
	Prev    Digest   `json:"prev"`              // Hash of the entry before; zero for the first
	Hash    Digest   `json:"hash"`              // of everything above
}

// Account is the state of a scope: the fold of its entries by Append.
type Account struct {
	Scope        string             `json:"scope"`
	Cap          *Cap               `json:"cap,omitempty"` // nil: spends are recorded, not limited
	Guarantee    Guarantee          `json:"guarantee"`     // of the first release; a scope does not mix them
	Releases     int64              `json:"releases"`
	Spent        Cost               `json:"spent"`                  // joint, or of the sensor that spent most
	Sensors      map[string]Cost    `json:"sensors,omitempty"`      // PerSensor, PerPerson
	NodeKey      string             `json:"nodeKey,omitempty"`      // what the ids of Sensors are
	Certificates map[string]float64 `json:"certificates,omitempty"` // distinct certificates that may fail, with β
	Entries      int64              `json:"entries"`
	Latest       time.Time          `json:"latest,omitzero"` // time of the newest entry that has one
	Head         Digest             `json:"head"`
}

// NewAccount returns the account of a scope without entries.
func NewAccount(scope string) Account { return Account{Scope: scope} }

// failure returns Σβ over distinct certificates.
func (a Account) failure() float64 {
	var sum float64
	for _, k := range slices.Sorted(maps.Keys(a.Certificates)) {
		sum += a.Certificates[k]
	}
	return up(sum, len(a.Certificates))
}

// Epsilon returns the ε at which everything spent so far is (ε, delta)-private,
// certificates' failures included.
func (a Account) Epsilon(delta float64) (float64, error) {
	return a.Guarantee.epsilon(a.Spent, delta-a.failure())
}

// Remaining returns what is left below the cap; ok is false where there is none.
func (a Account) Remaining() (left Cost, ok bool) {
	if a.Cap == nil {
		return 0, false
	}
	limit, err := a.limit()
	if err != nil {
		return 0, true
	}
	return max(0, limit-a.Spent), true
}

// limit returns the cost that the cap allows after Σβ.
func (a Account) limit() (Cost, error) {
	b := a.Cap.Budget
	if f := a.failure(); f > 0 {
		b.Delta = math.Nextafter(b.Delta-f, 0)
	}
	return a.Guarantee.capCost(b)
}

// Replay folds entries into an account, and checks order, hashes and rules. It returns
// [ErrChain] for a release that is paid for twice, and the errors of [Account.Append].
func Replay(scope string, entries []Entry) (Account, error) {
	a := NewAccount(scope)
	spent := make(map[string]bool)
	for _, e := range entries {
		next, err := a.Append(e)
		if err != nil {
			return Account{}, err
		}
		if e.Kind == KindSpent {
			if spent[e.ReleaseID] {
				return Account{}, fmt.Errorf("%w: scope %q pays twice for release %q", ErrChain, scope, e.ReleaseID)
			}
			spent[e.ReleaseID] = true
		}
		a = next
	}
	return a, nil
}

// Append returns the account after e, which must be the next link: [ErrChain]
// otherwise. [ErrJoin]: e books an account that does not fit this one.
// [ErrExhausted]: what is spent adds up to more than a [Cost] holds.
func (a Account) Append(e Entry) (Account, error) {
	switch {
	case e.Scope != a.Scope, e.Seq != a.Entries+1, e.Prev != a.Head, e.Hash != e.hash():
		return a, fmt.Errorf("%w: scope %q, entry %d", ErrChain, a.Scope, e.Seq)
	case (e.Kind == KindSpent) != (e.Charge != nil), (e.Kind == KindCap) != (e.Cap != nil),
		(e.Kind == KindReconciled) != (e.Account != nil):
		return a, fmt.Errorf("%w: scope %q, entry %d is incomplete", ErrChain, a.Scope, e.Seq)
	case !e.Time.IsZero() && e.Time.Before(a.Latest):
		return a, fmt.Errorf("%w: scope %q, entry %d goes back in time", ErrChain, a.Scope, e.Seq)
	case e.Charge != nil && e.Charge.Scope != a.Scope:
		return a, fmt.Errorf("%w: scope %q, entry %d pays for scope %q", ErrChain, a.Scope, e.Seq, e.Charge.Scope)
	}
	a.Entries, a.Head = e.Seq, e.Hash
	if !e.Time.IsZero() {
		a.Latest = e.Time
	}
	switch e.Kind {
	case KindCap:
		a.Cap = e.Cap
	case KindSpent:
		return a.add(*e.Charge)
	case KindReconciled:
		return a.absorb(*e.Account)
	}
	return a, nil
}

// add returns the account with one more release.
func (a Account) add(c Charge) (Account, error) {
	a.Releases++
	a.Guarantee = c.Guarantee
	var err error
	if !c.Guarantee.eachPays() {
		err = a.addCost(c.Cost)
	} else {
		err = a.addSensors(c.Sensors)
		a.NodeKey = cmp.Or(c.NodeKey, a.NodeKey)
	}
	if c.Failure > 0 {
		a.addCertificates(map[string]float64{c.Certificate.String(): c.Failure})
	}
	return a, err
}

// absorb returns the account with all that b spent. Their guarantees must agree
// where both have releases.
func (a Account) absorb(b Account) (Account, error) {
	if b.Releases > 0 {
		if a.Releases > 0 && a.Guarantee != b.Guarantee {
			return a, fmt.Errorf("%w: scope %q holds %s releases, scope %q holds %s ones", ErrJoin, a.Scope, a.Guarantee,
				b.Scope, b.Guarantee)
		}
		a.Guarantee = b.Guarantee
		if err := a.sameKey(b.NodeKey, b.Sensors); err != nil {
			return a, fmt.Errorf("%w: %w", ErrJoin, err)
		}
		a.NodeKey = cmp.Or(a.NodeKey, b.NodeKey)
	}
	a.Releases += b.Releases
	if b.Cap != nil {
		a.Cap = b.Cap
	}
	a.addCertificates(b.Certificates)
	if len(b.Sensors) > 0 {
		return a, a.addSensors(b.Sensors)
	}
	return a, a.addCost(b.Spent)
}

// sameKey refuses sensors under another key than those of the account: costs add up by
// id, so that a new key would be a new budget for the same sensors.
func (a Account) sameKey(key string, sensors map[string]Cost) error {
	if len(a.Sensors) == 0 || len(sensors) == 0 || a.NodeKey == key {
		return nil
	}
	return fmt.Errorf("scope %q counts sensors by the node key %q, the release names them by %q", a.Scope, a.NodeKey, key)
}

func (a *Account) addCost(c Cost) error {
	if c < 0 || c > math.MaxInt64-a.Spent {
		return fmt.Errorf("%w: scope %q", ErrExhausted, a.Scope)
	}
	a.Spent += c
	return nil
}

func (a *Account) addSensors(sensors map[string]Cost) error {
	a.Sensors = maps.Clone(a.Sensors)
	if a.Sensors == nil {
		a.Sensors = make(map[string]Cost, len(sensors))
	}
	for id, cost := range sensors {
		if cost < 0 || cost > math.MaxInt64-a.Sensors[id] {
			return fmt.Errorf("%w: scope %q, sensor %q", ErrExhausted, a.Scope, id)
		}
		a.Sensors[id] += cost
		a.Spent = max(a.Spent, a.Sensors[id])
	}
	return nil
}

func (a *Account) addCertificates(failures map[string]float64) {
	if len(failures) == 0 {
		return
	}
	a.Certificates = maps.Clone(a.Certificates)
	if a.Certificates == nil {
		a.Certificates = make(map[string]float64)
	}
	for id, beta := range failures {
		a.Certificates[id] = max(a.Certificates[id], beta)
	}
}

// next completes an entry as the next link of the chain.
func (a Account) next(e Entry) *Entry {
	e.Scope, e.Seq, e.Prev = a.Scope, a.Entries+1, a.Head
	e.Hash = e.hash()
	return &e
}

// stamp dates an entry by the ledger's clock, rounded up to a whole second, for what was done
// just before was done with private values, and never before the newest one: where the clock
// went back, what was spent counts for longer.
func (a Account) stamp(e Entry, now time.Time) Entry {
	e.Time = now.UTC().Add(time.Second - 1).Truncate(time.Second)
	if e.Time.Before(a.Latest) {
		e.Time = a.Latest
	}
	if e.Account != nil && e.Time.Before(e.Account.Latest) {
		e.Time = e.Account.Latest
	}
	e.Hash = e.hash()
	return e
}

// hash covers everything but Hash itself.
func (e Entry) hash() Digest {
	e.Hash = Digest{}
	data, err := json.Marshal(e)
	if err != nil {
		return Digest{} // unreachable: numbers are finite by Charge.validate
	}
	return hash([]byte("graphcloak/v1/entry"), data)
}

// equal reports whether two accounts are the same.
func (a Account) equal(b Account) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// equal reports whether c is the charge that was made.
func (c *Charge) equal(d Charge) bool {
	x, errC := json.Marshal(c)
	y, errD := json.Marshal(d)
	return errC == nil && errD == nil && string(x) == string(y)
}

func (c Charge) validate() error {
	if err := CheckID("budget scope", c.Scope); err != nil {
		return err
	}
	if err := CheckID("release id", c.ReleaseID); err != nil {
		return err
	}
	if err := CheckID("attempt token", c.Attempt); err != nil {
		return err
	}
	if c.Guarantee.eachPays() != (len(c.Sensors) > 0) {
		return fmt.Errorf("privacy: a %s charge lists %d sensors", c.Guarantee, len(c.Sensors))
	}
	if c.Guarantee.pure() {
		return c.validatePure()
	}
	if err := c.Budget.Validate(); err != nil {
		return err
	}
	if c.Cost < 1 || !(c.Failure >= 0 && c.Failure < c.Budget.Delta) {
		return fmt.Errorf("privacy: the charge is %d with failure %v, want ≥ 1 and 0 ≤ failure < delta", c.Cost, c.Failure)
	}
	// A first release whose budget lies within the cap is granted without converting its
	// cost (see withinCap), so the cost must satisfy the budget, up to rounding.
	net := Budget{c.Budget.Epsilon, math.Nextafter(c.Budget.Delta-c.Failure, 0)}
	if mu := math.Sqrt(2*float64(c.Cost-1)*costUnit) * (1 - 1e-12); mu > 0 && !private(net, mu) {
		return fmt.Errorf("privacy: the charge of ρ = %.4g is more than (ε = %v, δ = %v) allows", c.Cost.Rho(), c.Budget.Epsilon,
			c.Budget.Delta)
	}
	for id, cost := range c.Sensors {
		if cost < 1 || cost > c.Cost {
			return fmt.Errorf("privacy: sensor %q costs %d, want from 1 to %d", id, cost, c.Cost)
		}
	}
	return nil
}

// validatePure refuses a charge of answers that is not ε for every person.
func (c Charge) validatePure() error {
	cost, err := PureCost(c.Budget.Epsilon)
	if err != nil {
		return err
	}
	if c.Budget.Delta != 0 || c.Failure != 0 || c.Cost != cost {
		return fmt.Errorf("privacy: the charge is %d with δ = %v and failure %v, want %d, 0 and 0", c.Cost, c.Budget.Delta, c.Failure, cost)
	}
	for id, each := range c.Sensors {
		if each != cost {
			return fmt.Errorf("privacy: person %q costs %d, want %d", id, each, cost)
		}
	}
	return nil
}
