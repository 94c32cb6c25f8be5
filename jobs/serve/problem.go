// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"io"
	"net/http"

	"github.com/graphcloak/graphcloak/jobs"
)

// problem is an error as clients see it.
type problem struct {
	status  int
	message string
}

func (p *problem) Error() string { return p.message }

// problemOf hides what is not meant for clients.
func problemOf(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, jobs.ErrNoJob):
		return &problem{http.StatusNotFound, "there is nothing of this name"}
	case errors.Is(err, jobs.ErrHeld), errors.Is(err, jobs.ErrUnfinished), errors.Is(err, jobs.ErrPast):
		return &problem{http.StatusConflict, "the job is running, or waits before it is tried again, or this server is busy with others"}
	case errors.Is(err, jobs.ErrInvalid):
		return &problem{http.StatusConflict, err.Error()}
	}
	return &problem{http.StatusServiceUnavailable, "the store could not answer; the log says why"}
}

// fail answers with an error, and logs one that clients see only in general words.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.Warn("a request failed", "path", r.URL.Path, "error", err)
	}
	text(w, p.status, p.message)
}

func text(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, line+"\n")
}
