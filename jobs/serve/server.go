// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of a request.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	writeTime  = time.Minute
	idleTime   = 15 * time.Second // an idle connection keeps others out
	maxHeader  = 16 << 10
	maxBody    = 4 << 10
)

// New returns a server with limits on what a client may ask of it; [Listen] opens its address.
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

	shut.HandleFunc("GET /metrics", s.metrics)
	shut.HandleFunc("GET /style.css", style)
	shut.HandleFunc("GET /{$}", s.page(s.homePage))
	shut.HandleFunc("GET /jobs/{name}", s.page(s.jobPage))
	shut.HandleFunc("GET /runs/{runId}", s.runPage)
	shut.HandleFunc("POST /jobs/{name}/{action}", s.change)

	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &problem{http.StatusForbidden, "a page of another site asked for this; open the page of this server"})
	}))
	return headers(guard.Handler(http.MaxBytesHandler(open, maxBody)))
}

// guard admits requests with the token, or, where there is none, reads whose Host header
// names this machine: any other Host may be DNS rebinding by a page elsewhere.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case s.secret.is(given(r)):
			next.ServeHTTP(w, r)
		case s.secret != nil:
			w.Header().Set("WWW-Authenticate", `Basic realm="GraphCloak: any user name, and the token as password"`)
			s.fail(w, r, &problem{http.StatusUnauthorized, "give the token, as Authorization: Bearer TOKEN"})
		case !local(r.Host):
			s.fail(w, r, &problem{http.StatusForbidden, "without a token this server answers to the names of its own machine alone"})
		case !reads:
			s.fail(w, r, &problem{http.StatusForbidden, "changes need a token: start the server with --token-file"})
		default:
			next.ServeHTTP(w, r)
		}
	})
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
