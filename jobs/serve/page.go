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
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed pages/style.css
var styleSheet []byte

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"when": when, "iso": iso, "number": number, "percent": report.Percent, "verdict": report.Meaning, "took": took, "ran": ran,
	"span": span, "label": label, "long": long, "lead": lead, "rest": rest,
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

// seen is a page as it was shown last.
type seen struct {
	name string
	frame
	at time.Time
}

// page renders what a handler returns under the template of its name. Where the store does not answer, it is the page as it was
// shown last, if it ever was, with its age and without buttons.
func (s *server) page(handle func(*http.Request) (string, frame, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, f, err := handle(r)
		if err != nil {
			known, ok := s.seen.Load(r.URL.Path)
			if !ok || problemOf(err).status != http.StatusServiceUnavailable {
				s.fail(w, r, err)
				return
			}
			last := known.(seen)
			name, f = last.name, last.frame
			f.Away = time.Since(last.at).Round(time.Second).String()
			s.Log.Warn("a page shows what is known", "path", r.URL.Path, "error", err)
		} else if !strings.HasPrefix(r.URL.Path, "/runs/") { // of which there are more every night
			s.seen.Store(r.URL.Path, seen{name, f, time.Now()})
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

// homeContent is the first page.
type homeContent struct {
	Jobs    []jobs.Summary // what a person has to fix first
	Needy   int            // how many of them
	Runs    []jobs.Run
	Budgets []privacy.Balance
}

// homeRuns is how many runs the first page shows.
const homeRuns = 20

// homePage shows how things stand.
func (s *server) homePage(r *http.Request) (string, frame, error) {
	all, now, err := s.Engine.Jobs(r.Context())
	if err != nil {
		return "", frame{}, err
	}
	runs, err := s.Store.ListRuns(r.Context(), jobs.RunQuery{Limit: homeRuns})
	if err != nil {
		return "", frame{}, err
	}
	budgets, err := s.Budgets(r.Context())
	content := homeContent{Runs: runs, Budgets: budgets}
	content.setJobs(all)
	return "home.html", frame{Title: "Jobs", Time: now, Content: content}, err
}

// setJobs sorts jobs by how much they need a person.
func (h *homeContent) setJobs(all []jobs.Job) {
	for _, j := range all {
		h.Jobs = append(h.Jobs, j.Summary())
		if urgency(j.Summary()) < waits {
			h.Needy++
		}
	}
	slices.SortStableFunc(h.Jobs, func(a, b jobs.Summary) int { return cmp.Compare(urgency(a), urgency(b)) })
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

// jobContent is the page of a job.
type jobContent struct {
	jobs.Summary
	Ticks  []jobs.Claim // latest first
	Cost   *Cost
	Budget *privacy.Balance // of its scope; nil: nothing was spent from it yet, and it has no cap
}

// shownTicks bounds the ticks of a job that are listed.
const shownTicks = 30

func (s *server) jobPage(r *http.Request) (string, frame, error) {
	name := r.PathValue("name")
	all, _, err := s.Engine.Jobs(r.Context())
	if err != nil {
		return "", frame{}, err
	}
	i := slices.IndexFunc(all, func(j jobs.Job) bool { return j.Name == name })
	if i < 0 {
		return "", frame{}, jobs.ErrNoJob
	}
	content := jobContent{Summary: all[i].Summary()}
	if content.Ticks, err = s.Store.Ticks(r.Context(), jobs.TickQuery{JobName: name, Limit: shownTicks}); err != nil {
		return "", frame{}, err
	}
	if cost, ok := s.Cost(all[i].Definition); ok && all[i].Problem == nil {
		var budgets []privacy.Balance
		budgets, err = s.Budgets(r.Context())
		content.Cost = &cost
		if k := slices.IndexFunc(budgets, func(b privacy.Balance) bool { return b.Scope == cost.Scope }); k >= 0 {
			content.Budget = &budgets[k]
		}
	}
	return "job.html", frame{Title: "Job " + name, Content: content}, err
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

// change runs, pauses, resumes or cancels a job, and sends the browser back to it.
func (s *server) change(w http.ResponseWriter, r *http.Request) {
	name, action := r.PathValue("name"), r.PathValue("action")
	var err error
	switch action {
	case "run":
		_, err = s.Engine.Trigger(r.Context(), name)
	case "pause", "resume":
		err = s.Engine.Pause(r.Context(), name, action == "pause")
	case "cancel":
		_, err = s.Store.Cancel(r.Context(), name)
	default:
		err = &problem{http.StatusNotFound, "want run, pause, resume or cancel"}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.Log.Info("a job was changed over HTTP", "job", name, "action", action)
	http.Redirect(w, r, "/jobs/"+url.PathEscape(name), http.StatusSeeOther)
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

// label turns a status into words.
func label(status any) string {
	return map[string]string{
		"PENDING": "waits for its first time", "RUNNING": "running", "FINISHED": "finished", "FAILED": "failed", "CANCELED": "cancelled",
		"WAITING_FOR_BUDGET": "waits for budget", "OVER_BUDGET": "costs more than its whole cap", "PAUSED": "paused",
		"INVALID": "cannot run",
	}[fmt.Sprint(status)]
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
