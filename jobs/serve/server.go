// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

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
	MovedTo          string   `json:"movedTo,omitempty"`
}

// Cost is what a run of a job spends.
type Cost struct {
	Scope          string
	Epsilon, Delta float64
}

// Limits of a request.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	writeTime  = time.Minute
	idleTime   = 15 * time.Second // an idle connection keeps others out
	maxHeader  = 16 << 10
	maxBody    = 4 << 10
)

// manyFiles is as many open files as a server has any use for.
const manyFiles = 4096

// Bounded accepts connections for at most a quarter of the files that the process may open.
// Another quarter is for what their requests ask of the store, and half for jobs, which go on
// anyone who connects.
func Bounded(l net.Listener) net.Listener {
	return netutil.LimitListener(l, int(max(1, min(openFiles(), manyFiles)/4)))
}

// server answers requests.
type server struct {
	Options
	secret secret

	mu   sync.Mutex
	home homeContent // as it was shown last
}

// New returns a server with limits on what a client may ask of it. Its address and
// certificates are the caller's.
func New(o Options) *http.Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           (&server{Options: o, secret: hashed(o.Token)}).handler(),
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
}

// handler routes. Everything but the two probes is behind the token.
func (s *server) handler() http.Handler {
	open, shut := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok") })
	open.HandleFunc("GET /readyz", s.ready)
	open.Handle("/", s.guard(shut))

	shut.Handle("GET /metrics", s.Metrics)
	shut.HandleFunc("GET /style.css", style)
	shut.HandleFunc("GET /{$}", s.page(s.homePage))
	shut.HandleFunc("GET /jobs/{name}", s.page(s.jobPage))
	shut.HandleFunc("GET /runs/{runId}", s.runPage)
	shut.HandleFunc("POST /jobs/{name}/{action}", s.form)
	shut.HandleFunc("GET /api/v1/openapi.json", specification)
	shut.HandleFunc("GET /api/v1/jobs", s.answer(s.listJobs))
	shut.HandleFunc("GET /api/v1/jobs/{name}", s.answer(s.showJob))
	shut.HandleFunc("POST /api/v1/jobs/{name}/{action}", s.answer(s.change))
	shut.HandleFunc("GET /api/v1/runs", s.answer(s.listRuns))
	shut.HandleFunc("GET /api/v1/runs/{runId}", s.answer(s.showRun))
	shut.HandleFunc("GET /api/v1/budgets", s.answer(s.listBudgets))
	shut.HandleFunc("/api/", s.answer(func(*http.Request) (int, any, error) {
		return 0, nil,
			notFound("there is nothing at this address")
	}))

	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, &problem{
			http.StatusForbidden, "forbidden",
			"a page of another site asked for this; open the page of this server, or call the API without a browser",
		})
	}))
	return headers(guard.Handler(http.MaxBytesHandler(open, maxBody)))
}

// headers says to browsers that pages run nothing, load nothing from elsewhere and are
// in no frame.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "+
			"frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// ready is for load balancers: whether the last look at the store succeeded.
func (s *server) ready(w http.ResponseWriter, _ *http.Request) {
	if err := s.Engine.Ready(); err != nil {
		text(w, http.StatusServiceUnavailable, "the store cannot be read")
		return
	}
	text(w, http.StatusOK, "ready")
}

func text(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, line+"\n")
}
