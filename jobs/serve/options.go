// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/graphcloak/graphcloak/jobs"
)

// Options of a server.
type Options struct {
	Engine  *jobs.Engine
	Store   jobs.Store
	Name    string       // of the store, without credentials
	Version string       // of the program
	Token   string       // "": nothing can be changed, and this machine alone is answered
	Metrics http.Handler // of /metrics
	Log     *slog.Logger

	// Budgets returns what every scope has spent and what is left.
	Budgets func(ctx context.Context) ([]Budget, error)
	// Cost returns what a run of a job spends and from which scope; false where its settings do not say.
	Cost func(d jobs.Definition) (Cost, bool)
	// Report writes the page of a run's report, which is JSON, to be shown under
	// ReportPolicy, a Content-Security-Policy.
	Report       func(ctx context.Context, w io.Writer, report []byte) error
	ReportPolicy string
}

// Budget is what a scope has spent. A number that does not exist is absent: ε beyond
// conversion, what is left without a cap.
type Budget struct {
	Scope            string   `json:"budgetScope"`
	Releases         int64    `json:"releases"`
	Epsilon          *float64 `json:"epsilon,omitempty"` // of all releases, however old
	Delta            float64  `json:"delta"`
	CapEpsilon       *float64 `json:"capEpsilon,omitempty"`
	CapDelta         *float64 `json:"capDelta,omitempty"`
	CapPerSeconds    int64    `json:"capPerSeconds,omitempty"`
	RecentEpsilon    *float64 `json:"recentEpsilon,omitempty"` // what counts against a sliding cap
	RemainingEpsilon *float64 `json:"remainingEpsilon,omitempty"`
}

// Cost is what a run of a job spends.
type Cost struct {
	Scope          string
	Epsilon, Delta float64
}

// homeContent is the first page.
type homeContent struct {
	Jobs    []jobs.Summary // what a person has to fix first
	Needy   int            // how many of them
	Runs    []jobs.Run
	Budgets []Budget
}

// server answers requests.
type server struct {
	Options
	secret secret

	mu   sync.Mutex
	home homeContent // as it was shown last
}

// logged logs an error that clients see only in general words.
func (s *server) logged(r *http.Request, err error) {
	if p := problemOf(err); p.status >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.Log.Warn("a request failed", "path", r.URL.Path, "error", err)
	}
}
