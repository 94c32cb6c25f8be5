// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/graphcloak/graphcloak/connector/storetest"
	"github.com/graphcloak/graphcloak/jobs"
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
	site.engine.Cautions = func(context.Context, []jobs.Definition) map[string]jobs.Caution {
		return map[string]jobs.Caution{"still": {Err: errors.New("its scope has no cap: `graphcloak budget set <b>`")}}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { site.engine.Run(ctx); close(done) }()
	epsilon, limit := 1.0, 8.0
	server := New(Options{
		Engine: site.engine, Store: site.store, Name: "memory", Version: "test", Token: token,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "up 1\n") }),
		Report: func(_ context.Context, w io.Writer, report []byte) error {
			_, err := fmt.Fprintf(w, "the report of it: %d bytes", len(report))
			return err
		},
		ReportPolicy: "default-src 'none'; style-src 'self'",
		Budgets: func(context.Context) ([]Budget, error) {
			return []Budget{
				{
					Scope: "property=risk", Releases: 1, Epsilon: &epsilon, Delta: 1e-5, CapEpsilon: &limit,
					CapDelta: &limit, CapPerSeconds: 30 * 86400, RecentEpsilon: &epsilon, RemainingEpsilon: &limit,
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
	_, w, body := s.ask("POST", "/api/v1/jobs/yearly/run")
	for range 5000 { // the instance may still be at the run before, whose tick has ended
		if w.StatusCode != http.StatusConflict {
			break
		}
		time.Sleep(time.Millisecond)
		_, w, body = s.ask("POST", "/api/v1/jobs/yearly/run")
	}
	var started struct{ RunID string }
	if err := json.Unmarshal([]byte(body), &started); err != nil || w.StatusCode != http.StatusAccepted {
		s.t.Fatalf("%s: %s", w.Status, body)
	}
	for range 5000 {
		ticks, err := s.store.Ticks(s.t.Context(), jobs.TickQuery{JobName: "yearly", Limit: 1})
		if err != nil {
			s.t.Fatal(err)
		}
		if ticks[0].Status == status {
			return started.RunID
		}
		time.Sleep(time.Millisecond)
	}
	s.t.Fatalf("the run did not end as %s", status)
	return ""
}

// TestSpecification holds every address of openapi.json, and every answer that the
// server gives there, against that document.
func TestSpecification(t *testing.T) {
	document, err := libopenapi.NewDocument(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	v, problems := validator.NewValidator(document)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if ok, failures := v.ValidateDocument(); !ok {
		for _, e := range failures {
			t.Errorf("the document: %s: %s", e.Message, e.Reason)
		}
	}
	s := newSite(t, testToken)
	id := s.runOnce(jobs.Finished)
	s.runner.end.Store(&jobs.Ending{Outcome: jobs.Outcome{
		Status: jobs.WaitingForBudget, ExitCode: 9, Message: "its budget is spent",
		RenewsAt: time.Now().Add(time.Hour),
	}})
	s.runOnce(jobs.WaitingForBudget)
	s.runner.end.Store(&jobs.Ending{
		Outcome: jobs.Outcome{Status: jobs.OverBudget, ExitCode: 9, Message: "it costs too much"},
		Hint:    "raise the cap",
	})
	s.runOnce(jobs.OverBudget)
	// the job and its tick
	if _, _, body := s.ask("GET", "/api/v1/jobs/yearly"); strings.Count(body, `"it costs too much; raise the cap"`) < 2 {
		t.Errorf("nothing says what to do: %s", body)
	}
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	asked := make(map[string]bool)
	for _, c := range []struct {
		method, path string
		status       int
		change       func(*http.Request)
	}{
		{"GET", "/api/v1/openapi.json", 200, nil},
		{"GET", "/api/v1/jobs", 200, nil},
		{"GET", "/api/v1/jobs", 401, bare},
		{"GET", "/api/v1/jobs/yearly", 200, nil},
		{"GET", "/api/v1/jobs/nothing", 404, nil},
		{"POST", "/api/v1/jobs/yearly/pause", 200, nil},
		{"POST", "/api/v1/jobs/yearly/resume", 200, nil},
		{"POST", "/api/v1/jobs/still/resume", 409, nil},
		{"POST", "/api/v1/jobs/wrong/run", 409, nil},
		{"POST", "/api/v1/jobs/yearly/cancel", 404, nil},
		{"POST", "/api/v1/jobs/nothing/run", 404, nil},
		{"POST", "/api/v1/jobs/yearly/pause", 401, bare},
		{"GET", "/api/v1/runs", 200, nil},
		{"GET", "/api/v1/runs?jobName=yearly&status=FINISHED&since=2020-01-01T00:00:00Z&limit=1", 200, nil},
		{"GET", "/api/v1/runs/" + id, 200, nil},
		{"GET", "/api/v1/runs/nothing", 404, nil},
		{"GET", "/api/v1/budgets", 200, nil},
	} {
		if c.change == nil {
			c.change = func(*http.Request) {}
		}
		request, response, body := s.ask(c.method, c.path, c.change)
		if response.StatusCode != c.status {
			t.Errorf("%s %s: %s, want %d: %s", c.method, c.path, response.Status, c.status, body)
		}
		response.Body = io.NopCloser(strings.NewReader(body))
		if ok, failures := v.ValidateHttpResponse(request, response); !ok {
			for _, e := range failures {
				t.Errorf("%s %s: %s: %s\n%s", c.method, c.path, e.Message, e.Reason, body)
			}
		}
		if strings.Contains(body, planted) || strings.Contains(body, testToken) {
			t.Errorf("%s %s tells a secret: %s", c.method, c.path, body)
		}
		if c.status == 200 && !json.Valid([]byte(body)) {
			t.Errorf("%s %s: no JSON", c.method, c.path)
		}
		asked[c.method+" "+pattern(c.path, id)] = true
	}
	for path, operations := range paths(t) {
		for method := range operations {
			if method == "get" || method == "post" {
				if !asked[strings.ToUpper(method)+" "+path] {
					t.Errorf("the document has %s %s, which nothing asked for", method, path)
				}
			}
		}
	}
	for _, path := range []string{"/api/v1/runs?limit=0", "/api/v1/runs?limit=many", "/api/v1/runs?since=yesterday"} {
		if _, w, body := s.ask("GET", path); w.StatusCode != 400 || !strings.Contains(body, `"validation"`) {
			t.Errorf("%s: %s: %s", path, w.Status, body)
		}
	}
}

// pattern is the address in the document that a request was for.
func pattern(path, id string) string {
	path, _, _ = strings.Cut(path, "?")
	for _, name := range []string{"yearly", "nothing", "still", "wrong"} {
		path = strings.Replace(path, "/jobs/"+name, "/jobs/{name}", 1)
	}
	path = strings.NewReplacer("/runs/"+id, "/runs/{runId}", "/runs/nothing", "/runs/{runId}").Replace(path)
	for _, action := range []string{"run", "pause", "resume", "cancel"} {
		if strings.HasSuffix(path, "{name}/"+action) {
			return strings.TrimSuffix(path, action) + "{action}"
		}
	}
	return path
}

func paths(t *testing.T) map[string]map[string]any {
	t.Helper()
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(openAPI, &document); err != nil {
		t.Fatal(err)
	}
	return document.Paths
}

// TestPages: each page shows what there is, as text, runs nothing and loads only its
// own style sheet.
func TestPages(t *testing.T) {
	s := newSite(t, testToken)
	id := s.runOnce(jobs.Finished)
	for path, wants := range map[string][]string{
		"/": {
			"yearly", "its scope has no cap: `graphcloak budget set &lt;b&gt;", "cannot run",
			"property=risk", "per 30 days", "no cap", "90 %", "no answer: the measurements do not fit the model", "/runs/" + id,
			"&lt;script&gt;alert(1)",
		},
		"/jobs/yearly": {"@yearly", "Run now", "Pause", "finished", "/runs/" + id},
		"/jobs/still":  {"paused", "its scope has no cap: `graphcloak budget set ", "Resume", "It was not run yet."},
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

// TestForm: a button changes the job and leads back to it.
func TestForm(t *testing.T) {
	s := newSite(t, testToken)
	_, w, _ := s.ask("POST", "/jobs/yearly/pause", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") })
	if w.StatusCode != http.StatusSeeOther || w.Header.Get("Location") != "/jobs/yearly" {
		t.Errorf("%s to %s", w.Status, w.Header.Get("Location"))
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
		{with, "GET", "/api/v1/jobs", auth("Bearer " + testToken), 200},
		{with, "GET", "/api/v1/jobs", auth("bearer " + testToken), 200},
		{with, "GET", "/", browser, 200},
		{with, "GET", "/api/v1/jobs", auth("Bearer " + testToken + "x"), 401},
		{with, "GET", "/api/v1/jobs", auth("Bearer "), 401},
		{with, "GET", "/api/v1/jobs", auth("Basic bm9ib2R5Og=="), 401},
		{with, "GET", "/metrics", auth(""), 401},
		{with, "GET", "/", auth(""), 401},
		{with, "GET", "/style.css", auth(""), 401},
		{with, "GET", "/healthz", auth(""), 200},
		{with, "GET", "/readyz", auth(""), 200},
		{with, "GET", "/api/v1/jobs", host("elsewhere.example"), 200}, // a proxy's name, with the token
		{with, "POST", "/api/v1/jobs/yearly/pause", auth(""), 401},
		{with, "POST", "/api/v1/jobs/yearly/pause", from("Origin", "https://evil.example"), 403},
		{with, "POST", "/api/v1/jobs/yearly/pause", from("Sec-Fetch-Site", "cross-site"), 403},
		{with, "POST", "/jobs/yearly/pause", from("Sec-Fetch-Site", "same-site"), 403},
		{with, "POST", "/api/v1/jobs/yearly/pause", from("Sec-Fetch-Site", "same-origin"), 200},
		{with, "GET", "/api/v1/runs?status=FINISHED", nil, 200},
		{with, "GET", "/api/v1/runs?status=foo", nil, 400},
		{with, "PUT", "/api/v1/jobs/yearly", nil, 404},
		{with, "DELETE", "/api/v1/runs/1", nil, 404},
		{without, "GET", "/api/v1/jobs", nil, 200},
		{without, "GET", "/", nil, 200},
		{without, "GET", "/api/v1/jobs", host("localhost:1"), 200},
		{without, "GET", "/api/v1/jobs", host("[::1]:1"), 200},
		{without, "GET", "/api/v1/jobs", host("evil.example"), 403},
		{without, "GET", "/", host("127.0.0.1.evil.example:8473"), 403},
		{without, "POST", "/api/v1/jobs/yearly/pause", nil, 403},
		{without, "POST", "/jobs/yearly/run", nil, 403},
	} {
		if c.change == nil {
			c.change = func(*http.Request) {}
		}
		if _, w, body := c.site.ask(c.method, c.path, c.change); w.StatusCode != c.status {
			t.Errorf("%s %s: %s, want %d: %.200s", c.method, c.path, w.Status, c.status, body)
		} else if api := strings.HasPrefix(c.path, "/api/"); c.status >= 400 && api != strings.HasPrefix(body, `{"error":`) {
			t.Errorf("%s %s: the refusal is %.200s", c.method, c.path, body)
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
	server := httptest.NewServer(New(Options{Engine: e, Store: broken, Token: testToken, Metrics: http.NotFoundHandler()}).Handler)
	defer server.Close()
	s.http, s.token = server, testToken
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/v1/jobs": 503, "/": 503} {
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
		if got := Local(address); got != want {
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

// TestPagesTellARefusalOnce: what a job waits for is said in full by the job alone, and its runs spent nothing and took no time.
func TestPagesTellARefusalOnce(t *testing.T) {
	s := newSite(t, testToken)
	const refusal = "its budget is spent: a larger cap would do"
	s.runner.end.Store(&jobs.Ending{
		Outcome: jobs.Outcome{Status: jobs.WaitingForBudget, ExitCode: 9, Message: refusal, RenewsAt: time.Now().Add(time.Hour)},
		Run:     &jobs.Run{Mode: "write", DurationMillis: 1200},
	})
	s.runOnce(jobs.WaitingForBudget)
	for path, above := range map[string]int{"/": 1, "/jobs/yearly": 1} {
		_, _, body := s.ask("GET", path)
		if strings.Count(body, refusal) != 1 || strings.Count(body, "<small>"+asAbove+"</small>") != above {
			t.Errorf("%s: the refusal stands there %d times: %s", path, strings.Count(body, refusal), body)
		}
		if strings.Contains(body, "1.2s") || path == "/" && !strings.Contains(body, `data-label="ε spent">nothing<`) {
			t.Errorf("%s: a run that waits took time, or spent: %s", path, body)
		}
	}
}
