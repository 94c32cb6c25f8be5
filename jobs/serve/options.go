// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// Options of a server.
type Options struct {
	Engine  *jobs.Engine
	Store   jobs.Store
	Name    string // of the store, without credentials
	Version string // of the program
	Token   string // "": nothing can be changed, and this machine alone is answered
	Log     *slog.Logger

	// Budgets returns what every scope has spent and what is left.
	Budgets func(ctx context.Context) ([]privacy.Balance, error)
	// Cost returns what a run of a job spends and from which scope; false where its settings do not say.
	Cost func(d jobs.Definition) (Cost, bool)
	// Report writes the page of a run's report, which is JSON, to be shown under
	// ReportPolicy, a Content-Security-Policy.
	Report       func(ctx context.Context, w io.Writer, report []byte) error
	ReportPolicy string
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
	seen   sync.Map // pages by path, as they were shown last
}
