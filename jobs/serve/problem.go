// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/graphcloak/graphcloak/jobs"
)

// problem is an error as clients see it.
type problem struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (p *problem) Error() string { return p.Message }

func notFound(message string) error { return &problem{http.StatusNotFound, "not_found", message} }

// problemOf hides what is not meant for clients.
func problemOf(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, jobs.ErrNoJob):
		return &problem{http.StatusNotFound, "not_found", "there is nothing of this name"}
	case errors.Is(err, jobs.ErrHeld), errors.Is(err, jobs.ErrUnfinished), errors.Is(err, jobs.ErrPast):
		return &problem{http.StatusConflict, "conflict", "the job is running, or waits before it is tried again, or this server is " +
			"busy with others"}
	case errors.Is(err, jobs.ErrInvalid):
		return &problem{http.StatusConflict, "conflict", err.Error()}
	}
	return &problem{http.StatusServiceUnavailable, "transient", "the store could not answer; the log says why"}
}

// fail writes an error in the form that the client reads: JSON under /api/, else text.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		text(w, p.status, p.Message)
		return
	}
	writeJSON(w, p.status, map[string]any{"error": p})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

func text(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, line+"\n")
}
