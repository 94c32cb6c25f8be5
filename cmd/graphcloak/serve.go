// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/internal/disk"
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
			"needs --token-file and --tls-certificate, none behind a proxy. Jobs need a cap: `graphcloak budget set`. At SIGTERM\n" +
			"runs have 20 s to finish; another instance goes on with them, at no further cost.",
		Example: "  graphcloak serve --uri neo4j://localhost:7687 -u neo4j\n" +
			"  graphcloak serve --config night.yaml --listen 127.0.0.1:9000",
		GroupID: groupManage,
		RunE:    func(cmd *cobra.Command, _ []string) error { return app.serve(cmd.Context()) },
	}, jobDefaults, jobGroups...)
}

// serve listens before it opens the store: what is wrong with an address or a token shows
// first.
func (a *app) serve(ctx context.Context) error {
	if err := a.onServer(); err != nil {
		return err
	}
	token, err := a.serverToken()
	if err != nil {
		return err
	}
	listener, err := a.listen(token)
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
		Cost:    jobRunner{a, s}.cost,
		Metrics: a.metricsOf(s, engine), Log: a.log, Report: a.reportPage(s), ReportPolicy: page.Policy(),
		Budgets: func(ctx context.Context) ([]privacy.Balance, error) { return balances(ctx, s.Ledger()) },
	})
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	scheme := "http"
	if c := a.config.Server.TLSCertificate; c != "" && c != "none" {
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

// serverToken reads the token of clients, "" where none is named.
func (a *app) serverToken() (string, error) {
	path := a.config.Server.TokenFile
	if path == "" {
		return "", nil
	}
	f, err := disk.Open(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if !disk.Guarded(info) {
		return "", fail(exitValidation, "the token file %s has mode %04o: others can read it", path,
			info.Mode().Perm()).hint("chmod 600 %s", path)
	}
	token, err := firstLine(f)
	if err != nil {
		return "", err
	}
	if err := serve.CheckToken(token); err != nil {
		return "", fail(exitValidation, "the first line of %s is not a valid token: %w", path,
			err).hint("make one with `openssl rand -hex 32 > %s`", path)
	}
	return token, nil
}

// listen opens the address of the settings, and refuses one that others reach without
// token and encryption.
func (a *app) listen(token string) (net.Listener, error) {
	c := a.config.Server
	encrypted := c.TLSCertificate != "" && c.TLSCertificate != "none"
	switch {
	case serve.Local(c.Listen):
	case token == "":
		return nil, fail(exitUsage, "others than this machine reach %s, and there is no token", c.Listen).
			hint("give --token-file FILE, made by `openssl rand -hex 32 > FILE; chmod 600 FILE`, or listen on 127.0.0.1")
	case c.TLSCertificate == "":
		return nil, fail(exitUsage, "others than this machine reach %s, and nothing is encrypted", c.Listen).
			hint("give --tls-certificate FILE, or none where a proxy before it encrypts")
	}
	var identity *tls.Config
	if encrypted {
		pair, err := readCertificate(c.TLSCertificate)
		if err != nil {
			return nil, err
		}
		identity = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	listener, err := net.Listen("tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fail(exitConflict, "%s is in use by another process", c.Listen).hint("stop it, or give another --listen HOST:PORT")
	}
	if err != nil {
		return nil, fail(exitValidation, "cannot listen on %s: %w", c.Listen, err).hint("give another --listen HOST:PORT")
	}
	listener = serve.Bounded(listener)
	if identity != nil {
		listener = tls.NewListener(listener, identity)
	}
	return listener, nil
}

// maxCertificate bounds the files of a certificate, in bytes.
const maxCertificate = 1 << 20

// readCertificate reads chain and private key from one file, or the key from the file beside it that ends in .key, as
// Kubernetes mounts them.
func readCertificate(path string) (tls.Certificate, error) {
	chain, err := disk.Read(path, maxCertificate)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	key := chain
	if !bytes.Contains(chain, []byte("PRIVATE KEY-----")) {
		beside := strings.TrimSuffix(path, filepath.Ext(path)) + ".key"
		if key, err = disk.Read(beside, maxCertificate); err != nil {
			return tls.Certificate{}, fmt.Errorf("private key of the certificate: %w", err)
		}
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return pair, fail(exitValidation, "the certificate cannot be used: %w", err)
	}
	return pair, nil
}

// reportPage writes the page of a report that the history holds. A map needs the graph, which `graphcloak report` reads.
func (a *app) reportPage(s graphStore) func(context.Context, io.Writer, []byte) error {
	return func(ctx context.Context, w io.Writer, data []byte) error {
		rep, err := readReport(data)
		if err != nil {
			return err
		}
		prefix, _ := rep.Configuration["propertyPrefix"].(string)
		v := page.View{
			Report: rep, NoMap: "`graphcloak report RUNID`, with the flags of the run, makes a page with a map.",
			Queries: memberQueries(rep, prefix), Command: repeatedRun(rep),
		}
		if v.Budget, err = spentSoFar(ctx, s, rep); err != nil {
			return err
		}
		return page.Write(w, v)
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
