// SPDX-License-Identifier: Apache-2.0

package ping_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphcloak/graphcloak/internal/ping"
)

// monitor is a server that notes what it is asked and answers with statuses in turn.
type monitor struct {
	*httptest.Server
	mu       sync.Mutex
	asked    []string
	statuses []int
}

func newMonitor(t *testing.T, statuses ...int) *monitor {
	m := &monitor{statuses: statuses}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked = append(m.asked, r.URL.String())
		status := http.StatusOK
		if len(m.statuses) > 0 {
			status, m.statuses = m.statuses[0], m.statuses[1:]
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *monitor) at(t *testing.T, path string) *ping.Monitor {
	t.Helper()
	p, err := ping.New(m.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is told is where it is asked for; a query stays where it is.
func TestConvention(t *testing.T) {
	m := newMonitor(t)
	p := m.at(t, "/secret-token?create=1")
	if err := errors.Join(p.Start(t.Context()), p.End(t.Context(), 0), p.End(t.Context(), 9), p.End(t.Context(), 143)); err != nil {
		t.Fatal(err)
	}
	want := []string{"/secret-token/start?create=1", "/secret-token?create=1", "/secret-token/9?create=1", "/secret-token/143?create=1"}
	if !slices.Equal(m.asked, want) {
		t.Errorf("asked for %q, want %q", m.asked, want)
	}
}

// One answer that fails is asked for again; after two, the error names neither the
// token nor the path.
func TestFailures(t *testing.T) {
	if err := newMonitor(t, http.StatusBadGateway).at(t, "/secret-token").End(t.Context(), 0); err != nil {
		t.Errorf("the second attempt: %v", err)
	}
	deaf := newMonitor(t)
	gone := deaf.at(t, "/secret-token")
	deaf.Close()
	loop := httptest.NewServer(http.RedirectHandler("/secret-token", http.StatusFound))
	defer loop.Close()
	endless, err := ping.New(loop.URL + "/secret-token")
	if err != nil {
		t.Fatal(err)
	}
	refused := newMonitor(t, http.StatusNotFound, http.StatusNotFound)
	for what, p := range map[string]*ping.Monitor{"no answer": gone, "redirects": endless, "refused": refused.at(t, "/secret-token")} {
		if err := p.Start(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An address that cannot work is refused before anything is sent, and not repeated.
func TestAddresses(t *testing.T) {
	for _, bad := range []string{
		"", "secret", "ftp://secret/x", "https:///secret", "https://user:secret@host/", "https://host/#secret",
		"https://host/secret\x00", "file:///etc/secret",
	} {
		if _, err := ping.New(bad); !errors.Is(err, ping.ErrAddress) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want ErrAddress", bad, err)
		}
	}
}
