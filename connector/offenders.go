// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// named is the number of offenders that an error names.
const named = 5

// Offenders counts bad values and remembers the first few in the order of their
// names, so that the message does not depend on the order of reading. The zero
// value is ready; it is safe for concurrent use.
type Offenders struct {
	mu    sync.Mutex
	count int
	first []string
}

// singular makes what is wrong with several what is wrong with one.
var singular = strings.NewReplacer("nodes have", "node has", "relationships have", "relationship has", "relationships of the query have",
	"relationship of the query has",
	"nodes share", "node shares", "nodes are", "node is", "relationships are", "relationship is")

// Add records one offender, such as `"12"–"15": weight is NaN`.
func (o *Offenders) Add(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	if len(o.first) == named && s >= o.first[named-1] {
		return
	}
	at, _ := slices.BinarySearch(o.first, s)
	o.first = slices.Insert(o.first, at, s)
	if len(o.first) > named {
		o.first = o.first[:named]
	}
}

// Reset forgets all.
func (o *Offenders) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count, o.first = 0, nil
}

// Count returns the number of offenders.
func (o *Offenders) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

// Err returns nil where there is no offender, and otherwise an [ErrInput] that
// says what is wrong with how many and names the first.
func (o *Offenders) Err(what, remedy string) error {
	if o.Count() == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; %s", ErrInput, o.list(what), remedy)
}

func (o *Offenders) list(what string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count == 1 {
		what = singular.Replace(what)
	}
	s := fmt.Sprintf("%d %s: %s", o.count, what, strings.Join(o.first, "; "))
	if more := o.count - len(o.first); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}
