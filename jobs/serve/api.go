// SPDX-License-Identifier: Apache-2.0

package serve

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/graphcloak/graphcloak/jobs"
)

//go:embed openapi.json
var openAPI []byte

func specification(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(openAPI)
}

// answer writes what a handler returns as JSON.
func (s *server) answer(handle func(*http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, value, err := handle(r)
		if err != nil {
			s.logged(r, err)
			fail(w, r, err)
			return
		}
		writeJSON(w, status, value)
	}
}

type jobList struct {
	Time time.Time      `json:"time"` // the store's clock
	Jobs []jobs.Summary `json:"jobs"`
}

func (s *server) jobs(r *http.Request) (jobList, error) {
	all, now, err := s.Engine.Jobs(r.Context())
	return jobList{now, summaries(all)}, err
}

func summaries(all []jobs.Job) []jobs.Summary {
	list := []jobs.Summary{}
	for _, j := range all {
		list = append(list, j.Summary())
	}
	return list
}

func (s *server) listJobs(r *http.Request) (int, any, error) {
	list, err := s.jobs(r)
	return http.StatusOK, list, err
}

type jobDetail struct {
	jobs.Summary
	Ticks []jobs.Claim `json:"ticks"` // latest first

	definition jobs.Definition
}

// shownTicks bounds the ticks of a job that are listed.
const shownTicks = 30

func (s *server) job(r *http.Request) (jobDetail, error) {
	all, _, err := s.Engine.Jobs(r.Context())
	if err != nil {
		return jobDetail{}, err
	}
	j, err := named(r, all)
	if err != nil {
		return j, err
	}
	ticks, err := s.Store.Ticks(r.Context(), jobs.TickQuery{JobName: j.Name, Limit: shownTicks})
	j.Ticks = append(j.Ticks, ticks...)
	return j, err
}

// named is the job that an address names, without its ticks.
func named(r *http.Request, all []jobs.Job) (jobDetail, error) {
	name := r.PathValue("name")
	i := slices.IndexFunc(all, func(j jobs.Job) bool { return j.Name == name })
	if i < 0 {
		return jobDetail{}, notFound("there is no such job")
	}
	return jobDetail{all[i].Summary(), []jobs.Claim{}, all[i].Definition}, nil
}

func (s *server) showJob(r *http.Request) (int, any, error) {
	j, err := s.job(r)
	return http.StatusOK, j, err
}

// change runs, pauses, resumes or cancels a job.
func (s *server) change(r *http.Request) (int, any, error) {
	name, ctx := r.PathValue("name"), r.Context()
	switch r.PathValue("action") {
	case "run":
		c, err := s.Engine.Trigger(ctx, name)
		if err != nil {
			return 0, nil, err
		}
		s.Log.Info("a job was started over HTTP", "job", name)
		return http.StatusAccepted, map[string]any{"jobName": c.JobName, "nominalTime": c.NominalTime, "runId": c.ReleaseID()}, nil
	case "pause", "resume":
		if err := s.Engine.Pause(ctx, name, r.PathValue("action") == "pause"); err != nil {
			return 0, nil, err
		}
		s.Log.Info("a job was paused or resumed over HTTP", "job", name, "action", r.PathValue("action"))
	case "cancel":
		if _, err := s.Store.Cancel(ctx, name); err != nil {
			return 0, nil, err
		}
		s.Log.Info("the run of a job was cancelled over HTTP", "job", name)
	default:
		return 0, nil, notFound("want run, pause, resume or cancel")
	}
	return s.showJob(r)
}

type runList struct {
	Runs []jobs.Run `json:"runs"` // latest first
}

// Limits of a list of runs.
const (
	defaultRuns = 50
	maxRuns     = 1000
)

func (s *server) listRuns(r *http.Request) (int, any, error) {
	q := r.URL.Query()
	query := jobs.RunQuery{JobName: q.Get("jobName"), Status: jobs.Status(q.Get("status")), Limit: defaultRuns}
	if query.Status != "" && !slices.Contains(jobs.Statuses(), query.Status) {
		return 0, nil, &problem{http.StatusBadRequest, "validation", fmt.Sprintf("status: want one of %v", jobs.Statuses())}
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxRuns {
			return 0, nil, &problem{http.StatusBadRequest, "validation", "limit: want a whole number from 1 to " + strconv.Itoa(maxRuns)}
		}
		query.Limit = n
	}
	if text := q.Get("since"); text != "" {
		var err error
		if query.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return 0, nil, &problem{http.StatusBadRequest, "validation", "since: want a time such as 2026-01-31T00:00:00Z"}
		}
	}
	runs, err := s.Store.ListRuns(r.Context(), query)
	return http.StatusOK, runList{append([]jobs.Run{}, runs...)}, err
}

type runDetail struct {
	jobs.Run
	Report json.RawMessage `json:"report,omitempty"`
}

func (s *server) showRun(r *http.Request) (int, any, error) {
	run, err := s.Store.GetRun(r.Context(), r.PathValue("runId"))
	detail := runDetail{Run: run}
	if json.Valid(run.Report) {
		detail.Report = run.Report
	}
	return http.StatusOK, detail, err
}

type budgetList struct {
	Budgets []Budget `json:"budgets"`
}

func (s *server) listBudgets(r *http.Request) (int, any, error) {
	budgets, err := s.Budgets(r.Context())
	return http.StatusOK, budgetList{append([]Budget{}, budgets...)}, err
}
