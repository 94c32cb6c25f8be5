// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/jobs/serve"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/report/page"
)

func newServeCommand(app *app) *cobra.Command {
	return app.withSettings(&cobra.Command{
		Use:   "serve",
		Short: "Run jobs on their schedules, and answer over HTTP",
		Long: "serve runs the jobs of the settings file, each tick once however many instances there are. It shows them on a page at /\n" +
			"and in /metrics for Prometheus, and answers to /healthz and /readyz. It listens on this machine alone; another --listen\n" +
			"needs --token-file and --tls-certificate, none behind a proxy. Jobs need a cap: `graphcloak budget set`.",
		Example: "  graphcloak serve --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak serve --config night.yaml --listen 127.0.0.1:9000",
		GroupID: groupManage,
		RunE:    func(cmd *cobra.Command, _ []string) error { return app.serve(cmd.Context()) },
	}, jobDefaults, jobGroups)
}

// serve listens before it opens the store: what is wrong with an address or a token shows
// first.
func (a *app) serve(ctx context.Context) error {
	if err := a.onServer(); err != nil {
		return err
	}
	c, token := a.config.Server, ""
	if c.TokenFile != "" {
		var err error
		if token, err = serve.ReadToken(c.TokenFile); err != nil {
			return err
		}
	}
	listener, err := serve.Listen(c.Listen, token, c.TLSCertificate)
	if err != nil {
		return err
	}
	defer listener.Close()
	if _, err := checkState(); err != nil {
		return err
	}
	s, engine, err := a.openJobs(ctx)
	if err != nil {
		return err
	}
	defer s.Close(context.WithoutCancel(ctx))
	a.setGrace(drain)
	server := serve.New(serve.Options{
		Engine: engine, Store: engine.Store, Name: s.Name(), Version: readBuild().Version, Token: token,
		Cost: jobRunner{a, s}.cost,
		Log:  a.log, Report: a.reportPage(s), ReportPolicy: page.Policy(),
		Budgets: func(ctx context.Context) ([]privacy.Balance, error) { return balances(ctx, s.Ledger()) },
	})
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	scheme := "http"
	if serve.Encrypted(c.TLSCertificate) {
		scheme = "https"
	}
	a.note("Jobs of %s are run; %s://%s shows them", s.Name(), scheme, listener.Addr())
	return a.untilTheEnd(ctx, engine, server, failed)
}

// untilTheEnd runs the engine, and ends it where the server fails, and the server once
// the engine has ended.
func (a *app) untilTheEnd(ctx context.Context, engine *jobs.Engine, server *http.Server, failed <-chan error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() { engine.Run(ctx); close(done) }()
	var err error
	select {
	case err = <-failed:
		stop()
		<-done
	case <-done:
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if late := server.Shutdown(closing); late != nil {
		server.Close()
	}
	return err
}

// reportPage writes the page of a report that the history holds. A map needs the graph, which `graphcloak report` reads.
func (a *app) reportPage(s graphStore) func(context.Context, io.Writer, []byte) error {
	return func(ctx context.Context, w io.Writer, data []byte) error {
		rep, err := readReport(data)
		if err != nil {
			return err
		}
		prefix, _ := rep.Configuration["propertyPrefix"].(string)
		return writeView(ctx, w, s, page.View{
			NoMap: "`graphcloak report RUNID`, with the flags of the run, makes a page with a map.", Command: repeatedRun(rep),
		}, rep, prefix)
	}
}

// cost is what a run of a job spends by its settings.
func (r jobRunner) cost(d jobs.Definition) (serve.Cost, bool) {
	a, err := r.of(d)
	if err != nil {
		return serve.Cost{}, false
	}
	return serve.Cost{Scope: scopeOf(a.config), Epsilon: a.config.Privacy.Epsilon, Delta: a.config.Privacy.Delta}, true
}
