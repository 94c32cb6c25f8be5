// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/report"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed pages/style.css
var styleSheet []byte

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"when": when, "iso": iso, "number": number, "percent": report.Percent, "verdict": verdict, "took": took, "ran": ran, "span": span,
	"label": label, "long": long, "lead": lead, "rest": rest,
}).ParseFS(pageFiles, "pages/*.html"))

func style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Write(styleSheet)
}

// frame is what every page has around its own content.
type frame struct {
	Title     string
	Name      string // of the store
	Version   string
	Time      time.Time // the store's clock
	Away      string    // how old is what is shown where the store does not answer; "": it is as it stands there
	CanChange bool
	Content   any
}

// page renders what a handler returns under the template of its name.
func (s *server) page(handle func(*http.Request) (string, frame, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, f, err := handle(r)
		if err != nil {
			s.logged(r, err)
			fail(w, r, err)
			return
		}
		f.Name, f.Version, f.CanChange = s.Name, s.Version, s.secret != nil && f.Away == ""
		var b bytes.Buffer
		if err := pages.ExecuteTemplate(&b, name, f); err != nil {
			s.Log.Error("a page could not be written", "page", name, "error", err)
			text(w, http.StatusInternalServerError, "the page could not be written")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if f.Away != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		w.Write(b.Bytes())
	}
}

// homeRuns is how many runs the first page shows.
const homeRuns = 20

// homePage shows how things stand, or how they stood when the store last answered.
func (s *server) homePage(r *http.Request) (string, frame, error) {
	if known, at, away := s.last(); away != "" {
		s.mu.Lock()
		content := s.home
		s.mu.Unlock()
		content.setJobs(summaries(known))
		return "home.html", frame{Title: "Jobs", Time: at, Away: away, Content: content}, nil
	}
	list, err := s.jobs(r)
	if err != nil {
		return "", frame{}, err
	}
	runs, err := s.Store.ListRuns(r.Context(), jobs.RunQuery{Limit: homeRuns})
	if err != nil {
		return "", frame{}, err
	}
	tellOnce(list.Jobs, runs)
	budgets, err := s.Budgets(r.Context())
	content := homeContent{Runs: runs, Budgets: budgets}
	content.setJobs(list.Jobs)
	if err == nil {
		s.mu.Lock()
		s.home = content
		s.mu.Unlock()
	}
	return "home.html", frame{Title: "Jobs", Time: list.Time, Content: content}, err
}

// last is what the engine knows of the jobs where its store does not answer, and how old that is; "" where the store answers,
// or never did.
func (s *server) last() (known []jobs.Job, at time.Time, away string) {
	known, at, age := s.Engine.Last()
	if s.Engine.Ready() == nil || at.IsZero() {
		return nil, at, ""
	}
	return known, at, age.Round(time.Second).String()
}

// setJobs sorts jobs by how much they need a person.
func (h *homeContent) setJobs(list []jobs.Summary) {
	slices.SortStableFunc(list, func(a, b jobs.Summary) int { return cmp.Compare(urgency(a), urgency(b)) })
	h.Jobs, h.Needy = list, 0
	for _, j := range list {
		if urgency(j) < waits {
			h.Needy++
		}
	}
}

// How much a job needs a person; waits is the first that does not.
const (
	broken = iota
	late
	waits
	fine
)

func urgency(j jobs.Summary) int {
	switch string(j.Status) {
	case string(jobs.Invalid), string(jobs.Failed), string(jobs.OverBudget):
		return broken
	case string(jobs.WaitingForBudget):
		return waits
	}
	if j.Missed > 0 || j.Message != "" && j.Status == jobs.Pending {
		return late
	}
	return fine
}

// asAbove stands where a reader has just been told.
const asAbove = "as above"

// tellOnce leaves to a run what neither its job nor a run above it says.
func tellOnce(list []jobs.Summary, runs []jobs.Run) {
	told := make(map[string]bool)
	for _, j := range list {
		told[j.Message] = true
	}
	for k := range runs {
		if runs[k].Status != jobs.Finished { // its warnings are in the message
			runs[k].Message = once(told, runs[k].Message)
		}
	}
}

// once returns a text at its first time, and [asAbove] later.
func once(told map[string]bool, text string) string {
	if text != "" && told[text] {
		return asAbove
	}
	told[text] = true
	return text
}

// jobContent is the page of a job.
type jobContent struct {
	jobDetail
	Cost   *Cost
	Budget *Budget // of its scope; nil: nothing was spent from it yet, and it has no cap
}

func (s *server) jobPage(r *http.Request) (string, frame, error) {
	known, at, away := s.last()
	if away != "" {
		j, err := named(r, known)
		return "job.html", frame{Title: "Job " + j.Name, Time: at, Away: away, Content: jobContent{jobDetail: j, Cost: s.cost(j)}}, err
	}
	j, err := s.job(r)
	if err != nil {
		return "", frame{}, err
	}
	content := jobContent{jobDetail: j, Cost: s.cost(j)}
	if content.Cost != nil {
		var all []Budget
		all, err = s.Budgets(r.Context())
		if i := slices.IndexFunc(all, func(b Budget) bool { return b.Scope == content.Cost.Scope }); i >= 0 {
			content.Budget = &all[i]
		}
	}
	told := map[string]bool{j.Message: true}
	for k := range j.Ticks {
		j.Ticks[k].Message = once(told, j.Ticks[k].Message)
	}
	return "job.html", frame{Title: "Job " + j.Name, Content: content}, err
}

// cost is what a run of a job spends, nil where that is not known.
func (s *server) cost(j jobDetail) *Cost {
	if s.Cost == nil || j.Status == jobs.Invalid {
		return nil
	}
	if c, ok := s.Cost(j.definition); ok {
		return &c
	}
	return nil
}

// runPage shows a run's report, or what is known of a run that has none.
func (s *server) runPage(w http.ResponseWriter, r *http.Request) {
	run, err := s.Store.GetRun(r.Context(), r.PathValue("runId"))
	if err == nil && len(run.Report) > 0 {
		var b bytes.Buffer
		if err = s.Report(r.Context(), &b, run.Report); err == nil {
			w.Header().Set("Content-Security-Policy", s.ReportPolicy+"; frame-ancestors 'none'")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write(b.Bytes())
			return
		}
	}
	s.page(func(*http.Request) (string, frame, error) {
		return "run.html", frame{Title: "Run " + run.RunID, Content: run}, err
	})(w, r)
}

// form is a change from a page: the browser is sent back to the job.
func (s *server) form(w http.ResponseWriter, r *http.Request) {
	if _, _, err := s.change(r); err != nil {
		s.logged(r, err)
		fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+url.PathEscape(r.PathValue("name")), http.StatusSeeOther)
}

// when writes a time for people, in UTC.
func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func iso(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// number writes what may not exist.
func number(x *float64) string {
	if x == nil {
		return "–"
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}

// shortText is how long a text may be, in letters, before it is folded.
const shortText = 120

func long(text string) bool { return utf8.RuneCountInString(text) > shortText }

// lead is the beginning of a long text, of whole words, and rest what follows.
func lead(text string) string {
	start := string([]rune(text)[:shortText])
	if i := strings.LastIndex(start, " "); i > 0 {
		start = start[:i]
	}
	return start
}

func rest(text string) string { return strings.TrimPrefix(text, lead(text)) }

// ran reports whether a run has taken its time: one that waits has not begun.
func ran(status jobs.Status) bool {
	return status != jobs.WaitingForBudget && status != jobs.OverBudget
}

func took(millis int64) string {
	return (time.Duration(millis) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// span writes the window of a sliding cap.
func span(seconds int64) string {
	if days := seconds / 86400; days > 0 && seconds%86400 == 0 {
		return fmt.Sprintf("per %d days", days)
	}
	return "per " + (time.Duration(seconds) * time.Second).String()
}

// verdict says in words what an answer is worth, "" where a community is named.
func verdict(of string) string {
	switch of {
	case report.Misfit:
		return "no answer: the measurements do not fit the model"
	case report.Undecided:
		return "no community stands out"
	case report.Perhaps:
		return "perhaps: it is more likely in another"
	}
	return ""
}

// label turns a status into words.
func label(status any) string {
	return map[string]string{
		"PENDING": "waits for its first time", "RUNNING": "running", "FINISHED": "finished", "FAILED": "failed", "CANCELED": "cancelled",
		"WAITING_FOR_BUDGET": "waits for budget", "OVER_BUDGET": "costs more than its whole cap", "PAUSED": "paused",
		"INVALID": "cannot run",
	}[fmt.Sprint(status)]
}
