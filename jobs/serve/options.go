// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"

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

// Budget is what a scope has spent. A number that does not exist is nil: ε beyond
// conversion, what is left without a cap.
type Budget struct {
	Scope            string
	Releases         int64
	Epsilon          *float64 // of all releases, however old
	Delta            float64
	CapEpsilon       *float64
	CapPerSeconds    int64
	RemainingEpsilon *float64
}

// Cost is what a run of a job spends.
type Cost struct {
	Scope          string
	Epsilon, Delta float64
}

// server answers requests.
type server struct {
	Options
	secret secret
}
