// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"slices"
	"sync"
)

// Notices collects facts without repeating one. The zero value is empty; it is
// safe for concurrent use.
type Notices struct {
	mu   sync.Mutex
	text []string
}

// Add adds a fact unless it is there.
func (n *Notices) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.text, text) {
		n.text = append(n.text, text)
	}
}

// List returns the facts in the order of their arrival.
func (n *Notices) List() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.text)
}
