// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/privacy"
)

// graphStore is what a command opens: the front door's store with its remarks and its
// runs.
type graphStore interface {
	graphcloak.Store
	Undo(ctx context.Context, runID string) (nodes int64, err error)
	Close(ctx context.Context) error
	History() jobs.History
	Schema(ctx context.Context) (connector.Schema, error)
	Properties(ctx context.Context) ([]string, error)
}

// jobsOf returns where a store keeps jobs, nil where it keeps none.
func jobsOf(s graphStore) jobs.Store {
	if keeper, ok := unwatched(s).(interface{ Jobs() jobs.Store }); ok {
		return keeper.Jobs()
	}
	return nil
}

// folderJobs is set by a test that runs jobs without a server.
var folderJobs func(graphStore) graphStore

// onServer refuses to run jobs on another store than a Neo4j server.
func (a *app) onServer() error {
	from, err := a.source()
	if err != nil || from.Kind == config.FromNeo4j || folderJobs != nil {
		return err
	}
	return fail(exitUsage, "jobs run on a Neo4j server, and not on %s", from).
		hint("name a server by --uri; on a folder let cron call `graphcloak run --once-per 20h`")
}

// openStore opens the place that --from names. Its ledger is held against what this
// machine has seen of it.
func (a *app) openStore(ctx context.Context) (graphStore, error) {
	s, err := a.openReading(ctx)
	if err != nil {
		return nil, err
	}
	watched, err := a.watch(s)
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return watched, nil
}

// watch holds the ledger of a store against what this machine has seen of it.
func (a *app) watch(s graphStore) (graphStore, error) {
	ledger, err := a.watchLedger(s.Ledger())
	return watchedStore{s, ledger}, err
}

// watchedStore is a store whose ledger is held against the high-water marks.
type watchedStore struct {
	graphStore
	ledger privacy.Ledger
}

func (s watchedStore) Ledger() privacy.Ledger { return s.ledger }

// unwatched is the store itself, which may be able to do more than the others.
func unwatched(s graphStore) graphStore {
	if w, ok := s.(watchedStore); ok {
		return w.graphStore
	}
	return s
}

// openReading is openStore for commands that spend nothing: they need no high-water marks.
func (a *app) openReading(ctx context.Context) (graphStore, error) {
	from, err := a.source()
	if err != nil {
		return nil, err
	}
	snapshot := ""
	if a.config.From.Kind == config.FromSnapshot {
		snapshot = a.config.From.Arg
	}
	switch from.Kind {
	case config.FromFolder:
		return a.openFolder(ctx, from.Arg, snapshot)
	case config.FromExample, config.FromGenerate:
		source, err := builtinFolder(from)
		if err != nil {
			return nil, err
		}
		dir, err := stateDir("graphs", slug(source.Name))
		if err != nil {
			return nil, err
		}
		if err := source.CopyTo(dir); err != nil {
			return nil, err
		}
		return folder.New(ctx, dir, folder.Options{Progress: a.progress, Generated: true, Memory: a.memory})
	}
	options, err := a.connectorOptions(ctx)
	if err != nil {
		return nil, err
	}
	options.Snapshot, options.Memory = snapshot, a.memory
	return a.whenWarm(ctx, func() (graphStore, error) {
		s, err := neo4j.New(ctx, options)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// source settles which store is opened: Neo4j where a server is named, and that of a snapshot where a snapshot is.
func (a *app) source() (config.From, error) {
	from := a.config.From
	if from.Kind != "" && from.Kind != config.FromSnapshot {
		return from, nil
	}
	if a.config.Origin("neo4jUri").Layer != config.LayerDefault {
		return config.From{Kind: config.FromNeo4j}, nil
	}
	if from.Kind == config.FromSnapshot {
		return config.From{Kind: config.FromFolder, Arg: filepath.Dir(from.Arg)}, nil
	}
	missing := fail(exitUsage, "no graph is named")
	if _, err := os.Stat(settingsFile); err == nil && a.configPath == "" {
		return from, missing.hint("%s lies here: give --config %[1]s", settingsFile)
	}
	return from, missing.hint("give --uri or set NEO4J_URI for a Neo4j server, or --from folder:DIR, --from example:karate or --from " +
		"generate:SPEC")
}

func (a *app) openFolder(ctx context.Context, dir, snapshot string) (graphStore, error) {
	s, err := folder.New(ctx, dir, folder.Options{Progress: a.progress, Snapshot: snapshot, Memory: a.memory})
	if err == nil && folderJobs != nil {
		return folderJobs(s), nil
	}
	if snapshot != "" && errors.Is(err, connector.ErrNotFound) {
		return nil, fail(exitNotFound, "%w", err).hint("a snapshot of a folder lies in that folder; for one of a server give its --uri")
	}
	return s, err
}

// connectorOptions describes the server of the settings.
func (a *app) connectorOptions(ctx context.Context) (neo4j.Options, error) {
	username, password, err := a.credentials(ctx)
	if err != nil {
		return neo4j.Options{}, err
	}
	c := a.config.Connection
	return neo4j.Options{
		URI: c.URI, Username: username, Password: password, Database: c.Database, Version: readBuild().Version,
		Logger: a.log, Progress: a.progress, Notify: func(text string) { a.note("Note: %s", text) },
	}, nil
}

// builtinFolder returns a shipped or generated graph.
func builtinFolder(from config.From) (builtin.Folder, error) {
	if from.Kind == config.FromExample {
		return builtin.Example(from.Arg)
	}
	g, err := builtin.Parse(from.Arg)
	if err != nil {
		return builtin.Folder{}, err
	}
	return g.Folder()
}

// settingsFile is where init writes by default.
const settingsFile = "graphcloak.yaml"

// coldTime is how long a server that does not answer is tried again: Neo4j takes about half of it to start. Tests have none.
var coldTime = 30 * time.Second

// whenWarm opens a store, and tries again where its server does not answer yet.
func (a *app) whenWarm(ctx context.Context, open func() (graphStore, error)) (graphStore, error) {
	begun := time.Now()
	for {
		s, err := open()
		waited := time.Since(begun)
		if !errors.Is(err, connector.ErrTransient) || ctx.Err() != nil || waited >= coldTime {
			return s, err
		}
		if waited < time.Second {
			a.note("Note: the server does not answer; it may be starting, and is tried for %v", coldTime)
		}
		a.progress("wait for the server", int64(waited/time.Second), int64(coldTime/time.Second))
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Second):
		}
	}
}
