// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// leaving is a store that can be away.
type leaving struct {
	jobs.Store
	away atomic.Bool
}

func (s *leaving) Now(ctx context.Context) (time.Time, error) {
	if s.away.Load() {
		return time.Time{}, errors.New("neo4j: " + planted)
	}
	return s.Store.Now(ctx)
}

// operator asks a server over an engine that is running, without a network.
func operator(t *testing.T) (*leaving, func(path string) string) {
	t.Helper()
	store := &leaving{Store: storetest.NewJobStore()}
	engine := jobs.New(jobs.Options{
		Store: store, Runner: &runner{}, Instance: "test",
		Settings: []map[string]any{
			{"name": "calm", "schedule": "@yearly"},
			{"name": "needy", "schedule": "now and then", "timeout": "not too long", "retryDelay": "some", "missedRuns": "a few"},
			{"name": "wrong", "schedule": "now and then"},
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { engine.Run(ctx); close(done) }()
	t.Cleanup(func() { stop(); <-done })
	left := 3.5
	server := New(Options{
		Engine: engine, Store: store, Name: "memory", Token: testToken,
		Cost: func(d jobs.Definition) (Cost, bool) { return Cost{"property=risk", 0.5, 1e-5}, d.Name == "calm" },
		Budgets: func(context.Context) ([]privacy.Balance, error) {
			return []privacy.Balance{{Scope: "property=risk", Delta: 1e-5, CapEpsilon: &left, RemainingEpsilon: &left}}, nil
		},
	})
	return store, func(path string) string {
		r, w := httptest.NewRequestWithContext(t.Context(), "GET", path, http.NoBody), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+testToken)
		server.Handler.ServeHTTP(w, r)
		return w.Body.String()
	}
}

// TestWhatNeedsYouStandsFirst: jobs by how much they need a person.
func TestWhatNeedsYouStandsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ask := operator(t)
		synctest.Wait()
		body := ask("/")
		calm, needy, wrong := strings.Index(body, `"/jobs/calm"`), strings.Index(body, `"/jobs/needy"`),
			strings.Index(body, `"/jobs/wrong"`)
		if !(0 < needy && needy < wrong && wrong < calm) || !strings.Contains(body, "2 of 3 need you") {
			t.Errorf("wrong at %d, needy at %d, calm at %d: %s", wrong, needy, calm, body)
		}
		if !strings.Contains(body, "<summary>timeout is") {
			t.Errorf("a long text is not folded: %s", body)
		}
	})
}

// TestJobPageShowsWhatARunSpends: ε, δ, the scope, and what is left in it.
func TestJobPageShowsWhatARunSpends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ask := operator(t)
		synctest.Wait()
		if body := ask("/jobs/calm"); !strings.Contains(body, "ε = 0.5, δ = 1e-05 from property=risk") ||
			!strings.Contains(body, "ε = 3.5 for one more") {
			t.Errorf("ε, scope or what is left is missing: %s", body)
		}
		if body := ask("/jobs/needy"); strings.Contains(body, "A run spends") {
			t.Errorf("what is not known is shown: %s", body)
		}
	})
}

// TestStoreAway: pages show the last known state with its age, without buttons, as a failure to machines.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ask := operator(t)
		synctest.Wait()
		for _, path := range []string{"/", "/jobs/calm"} {
			if body := ask(path); strings.Contains(body, "does not answer") || !strings.Contains(body, "calm") {
				t.Fatalf("%s: %s", path, body)
			}
		}
		store.away.Store(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, path := range []string{"/", "/jobs/calm"} {
			body := ask(path)
			if !strings.Contains(body, "The store does not answer. This is how it was 1h0m0s ago.") || !strings.Contains(body, "calm") {
				t.Errorf("%s: %s", path, body)
			}
			if strings.Contains(body, "<button") || strings.Contains(body, planted) {
				t.Errorf("%s holds a button or what the store said: %s", path, body)
			}
		}
		if body := ask("/"); !strings.Contains(body, "property=risk") {
			t.Errorf("the budgets of before are gone: %s", body)
		}
		if body := ask("/jobs/needy"); strings.Contains(body, "<h1>") || strings.Contains(body, planted) {
			t.Errorf("a page that was never seen: %s", body)
		}
	})
}

// TestLabelsFit: on a narrow screen a label and its value stand beside each other, and neither covers the other.
func TestLabelsFit(t *testing.T) {
	files := must.Get(pageFiles.ReadDir("pages"))(t)
	for _, f := range files {
		text := must.Get(pageFiles.ReadFile("pages/" + f.Name()))(t)
		for _, part := range strings.Split(string(text), `data-label="`)[1:] {
			if label, _, _ := strings.Cut(part, `"`); utf8.RuneCountInString(label) > len("ε spent, ever") {
				t.Errorf("%s: %q is longer than its column", f.Name(), label)
			}
		}
	}
}

// TestPaper: what is printed is black on white, and as narrow as a phone's, for a sheet cuts off what a screen scrolls.
func TestPaper(t *testing.T) {
	for _, rule := range []string{
		"@media (max-width: 45rem), print {", "@media print { :root { color-scheme: light; } }",
		"@media screen and (prefers-color-scheme: dark)",
	} {
		if !strings.Contains(string(styleSheet), rule) {
			t.Errorf("the style sheet lacks %q", rule)
		}
	}
}

// TestNarrowScreen: what stands on one line on a wide screen breaks on one of 360 pixels, where it would be cut off.
func TestNarrowScreen(t *testing.T) {
	wide, narrow, ok := strings.Cut(string(styleSheet), "@media (max-width:")
	if !ok {
		t.Fatal("the style sheet does not know narrow screens")
	}
	for line := range strings.Lines(wide) {
		selector, rule, _ := strings.Cut(line, " {")
		if !strings.Contains(rule, "white-space: nowrap") || selector == "th" { // the head is not shown
			continue
		}
		if selector == ".n" {
			selector = "td.n"
		}
		free := false
		for rule := range strings.Lines(narrow) {
			names, rest, _ := strings.Cut(rule, " {")
			for name := range strings.SplitSeq(names, ",") {
				free = free || strings.TrimSpace(name) == selector && strings.Contains(rest, "white-space: normal")
			}
		}
		if !free {
			t.Errorf("%s is cut off", selector)
		}
	}
}
