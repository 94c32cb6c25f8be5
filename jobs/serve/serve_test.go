// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

const testToken = "a-token-of-this-test-0123456789"

// planted is what no answer may hold.
const planted = "SECRET-of-a-run"

// runner ends ticks as a test wants it.
type runner struct{ end atomic.Pointer[jobs.Ending] }

func (r *runner) Check(jobs.Definition) error             { return nil }
func (r *runner) GiveUp(context.Context, jobs.Work) error { return nil }

func (r *runner) Run(ctx context.Context, w jobs.Work) jobs.Ending {
	if err := w.Save(ctx, []byte(planted)); err != nil {
		return jobs.Ending{Retry: true}
	}
	end := *r.end.Load()
	end.RunID = w.ReleaseID
	if end.Run != nil {
		run := *end.Run
		run.RunID = w.ReleaseID
		end.Run = &run
	}
	return end
}

// site is a server over a store in memory, with an engine that is running.
type site struct {
	t      *testing.T
	store  jobs.Store
	engine *jobs.Engine
	runner *runner
	http   *httptest.Server
	token  string
}

func newSite(t *testing.T, token string) *site {
	t.Helper()
	site := &site{t: t, store: storetest.NewJobStore(), runner: &runner{}, token: token}
	site.runner.end.Store(&jobs.Ending{
		Outcome: jobs.Outcome{Status: jobs.Finished, Message: "it is <b>there</b>"},
		Run: &jobs.Run{
			Mode: "write", Spent: true, EpsilonSpent: 1, DeltaSpent: 1e-5, Answer: "<script>alert(1)</script>", Probability: 0.9,
			Verdict: "misfit", BudgetScope: "property=risk",
			Report: []byte(`{"answer":"A"}`),
		},
	})
	site.engine = jobs.New(jobs.Options{Store: site.store, Runner: site.runner, Instance: "test", Settings: []map[string]any{
		{"name": "yearly", "schedule": "@yearly"},
		{"name": "wrong", "schedule": "<script>"},
		{"name": "still", "schedule": "@yearly", "paused": true},
	}})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { site.engine.Run(ctx); close(done) }()
	epsilon, limit := 1.0, 8.0
	server := New(Options{
		Engine: site.engine, Store: site.store, Name: "memory", Version: "test", Token: token,
		Report: func(_ context.Context, w io.Writer, report []byte) error {
			_, err := fmt.Fprintf(w, "the report of it: %d bytes", len(report))
			return err
		},
		Cost:         func(jobs.Definition) (Cost, bool) { return Cost{}, false },
		ReportPolicy: "default-src 'none'; style-src 'self'",
		Budgets: func(context.Context) ([]privacy.Balance, error) {
			return []privacy.Balance{
				{
					Scope: "property=risk", Releases: 1, Epsilon: &epsilon, Delta: 1e-5, CapEpsilon: &limit,
					CapPerSeconds: 30 * 86400, RemainingEpsilon: &limit,
				},
				{Scope: "bare", Delta: 1e-5},
			}, nil
		},
	})
	site.http = httptest.NewServer(server.Handler)
	t.Cleanup(func() { site.http.Close(); stop(); <-done })
	for site.engine.Ready() != nil {
		time.Sleep(time.Millisecond)
	}
	return site
}

// ask sends a request and returns its answer.
func (s *site) ask(method, path string, change ...func(*http.Request)) (*http.Request, *http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.http.URL+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	for _, f := range change {
		f(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(w.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r, w, string(body)
}

// runOnce runs the yearly job by hand and waits for its end.
func (s *site) runOnce(status jobs.Status) (runID string) {
	s.t.Helper()
	_, w, body := s.ask("POST", "/jobs/yearly/run")
	for range 5000 { // the instance may still be at the run before, whose tick has ended
		if w.StatusCode != http.StatusConflict {
			break
		}
		time.Sleep(time.Millisecond)
		_, w, body = s.ask("POST", "/jobs/yearly/run")
	}
	if w.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("%s: %s", w.Status, body)
	}
	for range 5000 {
		ticks, err := s.store.Ticks(s.t.Context(), jobs.TickQuery{JobName: "yearly", Limit: 1})
		if err != nil {
			s.t.Fatal(err)
		}
		if ticks[0].Status == status {
			return ticks[0].RunID
		}
		time.Sleep(time.Millisecond)
	}
	s.t.Fatalf("the run did not end as %s", status)
	return ""
}

// TestPages: each page shows what there is, as text, runs nothing and loads only its
// own style sheet.
func TestPages(t *testing.T) {
	s := newSite(t, testToken)
	id := s.runOnce(jobs.Finished)
	for path, wants := range map[string][]string{
		"/": {
			"yearly", "cannot run",
			"property=risk", "per 30 days", "no cap", "90 %", "the measurements do not fit the model, and no community is named",
			"/runs/" + id, "&lt;script&gt;alert(1)",
		},
		"/jobs/yearly": {"@yearly", "Run now", "Pause", "finished", "/runs/" + id},
		"/jobs/still":  {"paused", "Resume", "It was not run yet."},
		"/runs/" + id:  {"the report of it"},
	} {
		_, w, body := s.ask("GET", path)
		if w.StatusCode != 200 || !strings.HasPrefix(w.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s", path, w.Status)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not show %q", path, want)
			}
		}
		for _, bad := range []string{"<script", " style=", "onclick", planted, testToken, "<b>", "<i>", "ZgotmplZ"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if csp := w.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'self'") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
	}
	for path, status := range map[string]int{
		"/jobs/nothing": 404, "/runs/nothing": 404, "/nothing": 404, "/style.css": 200,
		"/metrics": 200,
	} {
		if _, w, _ := s.ask("GET", path); w.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, w.Status, status)
		}
	}
}

// TestChange: a button changes the job and leads back to it; what cannot be done is refused.
func TestChange(t *testing.T) {
	s := newSite(t, testToken)
	for path, status := range map[string]int{
		"/jobs/yearly/pause": 303, "/jobs/still/resume": 409, "/jobs/wrong/run": 409, "/jobs/yearly/cancel": 404, "/jobs/nothing/run": 404,
		"/jobs/yearly/burn": 404,
	} {
		_, w, body := s.ask("POST", path, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") })
		if w.StatusCode != status || status == 303 && w.Header.Get("Location") != "/jobs/yearly" || strings.Contains(body, planted) {
			t.Errorf("%s: %s to %s: %s", path, w.Status, w.Header.Get("Location"), body)
		}
	}
	if _, _, body := s.ask("GET", "/jobs/yearly"); !strings.Contains(body, "Resume") {
		t.Error("the job is not paused")
	}
}

// TestWhoMayAsk: with a token nobody else is answered; without one this machine reads
// under its own names, and nobody changes anything.
func TestWhoMayAsk(t *testing.T) {
	with, without := newSite(t, testToken), newSite(t, "")
	auth := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	from := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	browser := func(r *http.Request) { r.Header.Del("Authorization"); r.SetBasicAuth("anybody", testToken) }
	for _, c := range []struct {
		site         *site
		method, path string
		change       func(*http.Request)
		status       int
	}{
		{with, "GET", "/jobs/yearly", auth("Bearer " + testToken), 200},
		{with, "GET", "/jobs/yearly", auth("bearer " + testToken), 200},
		{with, "GET", "/", browser, 200},
		{with, "GET", "/jobs/yearly", auth("Bearer " + testToken + "x"), 401},
		{with, "GET", "/jobs/yearly", auth("Bearer "), 401},
		{with, "GET", "/jobs/yearly", auth("Basic bm9ib2R5Og=="), 401},
		{with, "GET", "/metrics", auth(""), 401},
		{with, "GET", "/", auth(""), 401},
		{with, "GET", "/style.css", auth(""), 401},
		{with, "GET", "/healthz", auth(""), 200},
		{with, "GET", "/readyz", auth(""), 200},
		{with, "GET", "/jobs/yearly", host("elsewhere.example"), 200}, // a proxy's name, with the token
		{with, "POST", "/jobs/yearly/pause", auth(""), 401},
		{with, "POST", "/jobs/yearly/pause", from("Origin", "https://evil.example"), 403},
		{with, "POST", "/jobs/yearly/pause", from("Sec-Fetch-Site", "cross-site"), 403},
		{with, "POST", "/jobs/yearly/pause", from("Sec-Fetch-Site", "same-site"), 403},
		{with, "POST", "/jobs/yearly/pause", from("Sec-Fetch-Site", "same-origin"), 303},
		{with, "PUT", "/jobs/yearly", nil, 405},
		{without, "GET", "/jobs/yearly", nil, 200},
		{without, "GET", "/", nil, 200},
		{without, "GET", "/jobs/yearly", host("localhost:1"), 200},
		{without, "GET", "/jobs/yearly", host("[::1]:1"), 200},
		{without, "GET", "/jobs/yearly", host("evil.example"), 403},
		{without, "GET", "/", host("127.0.0.1.evil.example:8473"), 403},
		{without, "POST", "/jobs/yearly/pause", nil, 403},
		{without, "POST", "/jobs/yearly/run", nil, 403},
	} {
		if c.change == nil {
			c.change = func(*http.Request) {}
		}
		if _, w, body := c.site.ask(c.method, c.path, c.change); w.StatusCode != c.status {
			t.Errorf("%s %s: %s, want %d: %.200s", c.method, c.path, w.Status, c.status, body)
		}
	}
	if _, _, body := without.ask("GET", "/jobs/yearly"); strings.Contains(body, "<button") {
		t.Error("a page without a token has buttons that do nothing")
	}
}

// TestReady: a store that is away makes the server not ready, and healthy all the same;
// what the store said is not passed on.
func TestReady(t *testing.T) {
	s := newSite(t, testToken)
	broken := brokenStore{s.store}
	e := jobs.New(jobs.Options{Store: broken, Runner: s.runner})
	server := httptest.NewServer(New(Options{Engine: e, Store: broken, Token: testToken}).Handler)
	defer server.Close()
	s.http, s.token = server, testToken
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503, "/jobs/yearly": 503, "/": 503} {
		_, w, body := s.ask("GET", path)
		if w.StatusCode != status || strings.Contains(body, planted) {
			t.Errorf("%s: %s, want %d: %s", path, w.Status, status, body)
		}
	}
}

// brokenStore cannot tell the time.
type brokenStore struct{ jobs.Store }

func (brokenStore) Now(context.Context) (time.Time, error) {
	return time.Time{}, errors.New("neo4j: " + planted)
}

// TestCheckToken refuses what could be guessed or not be sent.
func TestCheckToken(t *testing.T) {
	for token, ok := range map[string]bool{
		testToken: true, "": false, "short": false,
		"with spaces 0123456789": false, "päßwörter-0123456789": false, strings.Repeat("x", 2000): false, "line\n0123456789abcdef": false,
	} {
		if err := CheckToken(token); (err == nil) != ok || err != nil && !errors.Is(err, ErrToken) {
			t.Errorf("%.20q: %v", token, err)
		}
	}
}

// TestLocal tells addresses that no other machine reaches.
func TestLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:8473": true, "localhost:1": true, "[::1]:8473": true, "127.9.9.9:1": true,
		":8473": false, "0.0.0.0:8473": false, "[::]:8473": false, "10.0.0.1:1": false, "example.org:1": false, "nonsense": false,
	} {
		if got := ownAddress(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// TestPagesMarkRunsThatWereWarned: a run that gave warnings before it spent is marked, and they are there as text.
func TestPagesMarkRunsThatWereWarned(t *testing.T) {
	s := newSite(t, testToken)
	const mark = "<summary>warned before it spent *</summary>"
	s.runOnce(jobs.Finished)
	if _, _, body := s.ask("GET", "/"); strings.Contains(body, mark) {
		t.Error("a run is marked that gave no warning")
	}
	end := *s.runner.end.Load()
	end.Message = jobs.WithWarnings("it is there", []string{"chance is <5 %>", "δ is large"})
	s.runner.end.Store(&end)
	s.runOnce(jobs.Finished)
	if _, _, body := s.ask("GET", "/"); strings.Count(body, mark+"chance is &lt;5 %&gt;; δ is large.</details>") != 1 {
		t.Errorf("no mark, or more than one: %s", body)
	}
}

// TestPagesOfARefusal: a run that waits for budget spent nothing and took no time, and its job says what to do.
func TestPagesOfARefusal(t *testing.T) {
	s := newSite(t, testToken)
	s.runner.end.Store(&jobs.Ending{
		Outcome: jobs.Outcome{
			Status: jobs.WaitingForBudget, ExitCode: 9, Message: "its budget is spent", RenewsAt: time.Now().Add(time.Hour),
		},
		Hint: "a larger cap would do", Run: &jobs.Run{Mode: "write", DurationMillis: 1200},
	})
	s.runOnce(jobs.WaitingForBudget)
	_, _, body := s.ask("GET", "/")
	if strings.Contains(body, "1.2s") || !strings.Contains(body, `data-label="ε spent">nothing<`) ||
		!strings.Contains(body, "its budget is spent; a larger cap would do") {
		t.Errorf("a run that waits took time, or spent, or nothing says what to do: %s", body)
	}
}
