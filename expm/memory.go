// SPDX-License-Identifier: Apache-2.0

package expm

import "sync"

// memory lends the memory of applications. A pool hands out what was given back on the same processor, or is found again
// by luck, and drops it at a collection of garbage; where keep is set, one is handed to whoever comes next.
type memory struct {
	pool sync.Pool // *workspace
	keep bool
	lock sync.Mutex
	kept *workspace // nil: lent, or none yet
}

// take returns memory of any size, or nil where there is none.
func (m *memory) take() *workspace {
	if m.keep {
		m.lock.Lock()
		defer m.lock.Unlock()
		if w := m.kept; w != nil {
			m.kept = nil
			return w
		}
	}
	w, _ := m.pool.Get().(*workspace)
	return w
}

// put takes memory back.
func (m *memory) put(w *workspace) {
	if m.keep {
		m.lock.Lock()
		defer m.lock.Unlock()
		if m.kept == nil {
			m.kept = w
			return
		}
	}
	m.pool.Put(w)
}
