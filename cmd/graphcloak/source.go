// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/connector/neo4j"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/jobs"
)

// graphStore is what a command opens: the front door's store with its remarks and its
// runs.
type graphStore interface {
	graphcloak.Store
	Undo(ctx context.Context, runID string) (nodes int64, err error)
	Close(ctx context.Context) error
	Notices() []string
	Runs(ctx context.Context) ([]connector.Run, error)
	History() jobs.History
	Schema(ctx context.Context) (connector.Schema, error)
	Names(ctx context.Context) (labels, types, properties []string, err error)
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
	s, err := a.openUnwatched(ctx)
	if err != nil {
		return nil, err
	}
	return a.watch(s), nil
}

// openUnwatched is openStore for commands that spend nothing.
func (a *app) openUnwatched(ctx context.Context) (graphStore, error) {
	from, err := a.source()
	if err != nil {
		return nil, err
	}
	switch from.Kind {
	case config.FromFolder:
		return a.openFolder(ctx, from.Arg)
	case config.FromExample, config.FromGenerate:
		source, err := builtinFolder(from)
		if err != nil {
			return nil, err
		}
		dir, err := stateDir("graphs", slug(source.Name))
		if err != nil {
			return nil, err
		}
		if err := copyFolder(source, dir); err != nil {
			return nil, err
		}
		return a.openOwn(ctx, dir)
	}
	options, err := a.connectorOptions(ctx)
	if err != nil {
		return nil, err
	}
	return a.whenWarm(ctx, func() (graphStore, error) {
		s, err := neo4j.New(ctx, options)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}

// openReading is openStore for commands that write nothing: what ships in the program or
// is generated is read from a copy that is thrown away, where there is no folder for
// state to keep one in.
func (a *app) openReading(ctx context.Context) (graphStore, error) {
	from, err := a.source()
	if err != nil {
		return nil, err
	}
	_, stateless := stateDir("graphs")
	if stateless == nil || from.Kind != config.FromExample && from.Kind != config.FromGenerate {
		return a.openStore(ctx)
	}
	source, err := builtinFolder(from)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "graphcloak-")
	if err != nil {
		return nil, err
	}
	copied := temporary{dir: dir}
	if err = copyFolder(source, dir); err == nil {
		copied.graphStore, err = a.openOwn(ctx, dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return copied, nil
}

// openFor is openStore, or openReading for a command that will not write.
func (a *app) openFor(ctx context.Context, writing bool) (graphStore, error) {
	if writing {
		return a.openStore(ctx)
	}
	return a.openReading(ctx)
}

// temporary is a store whose folder goes with it.
type temporary struct {
	graphStore
	dir string
}

func (s temporary) Close(ctx context.Context) error {
	return errors.Join(s.graphStore.Close(ctx), os.RemoveAll(s.dir))
}

// source settles where the graph comes from: Neo4j where a server is named.
func (a *app) source() (config.From, error) {
	from := a.config.From
	if from.Kind != "" {
		return from, nil
	}
	if a.config.Origin("neo4jUri").Layer != config.LayerDefault {
		return config.From{Kind: config.FromNeo4j}, nil
	}
	missing := fail(exitUsage, "no graph is named")
	if _, err := os.Stat(settingsFile); err == nil && a.configPath == "" {
		return from, missing.hint("%s lies here: give --config %[1]s", settingsFile)
	}
	return from, missing.hint("give --uri or set NEO4J_URI for a Neo4j server, or --from folder:DIR, --from example:karate or --from " +
		"generate:SPEC")
}

func (a *app) openFolder(ctx context.Context, dir string) (graphStore, error) {
	s, err := folder.New(ctx, dir, folder.Options{Progress: a.progress})
	if err == nil && folderJobs != nil {
		return folderJobs(s), nil
	}
	return s, err
}

// openOwn opens a folder whose files the program made.
func (a *app) openOwn(ctx context.Context, dir string) (graphStore, error) {
	return folder.New(ctx, dir, folder.Options{Progress: a.progress, Generated: true})
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

// stateDir returns a folder of the program's own, which exists and nobody else
// reads: graphcloak/ in $XDG_STATE_HOME, or the folder that systemd made for the
// service, or that in the user's home. A relative path is refused: what the ledger
// was seen to hold, and runs that are paid for, would depend on the working directory.
func stateDir(parts ...string) (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	service, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	switch {
	case base != "":
		base = filepath.Join(base, "graphcloak")
	case service != "":
		base = service
	default:
		home, err := os.UserHomeDir()
		if err != nil {
			return "", stateError(err)
		}
		base = filepath.Join(home, ".local", "state", "graphcloak")
	}
	if !filepath.IsAbs(base) {
		return "", fail(exitValidation, "the folder for what must outlast a crash is relative: %s; nothing was spent", base).
			hint("set XDG_STATE_HOME to an absolute path, or leave it out")
	}
	dir := filepath.Join(append([]string{base}, parts...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", stateError(err)
	}
	return dir, nil
}

// slug makes a file name of a graph's name: readable, and different for each.
func slug(name string) string {
	sum := sha256.Sum256([]byte(name))
	readable := make([]rune, 0, 24)
	for _, r := range name {
		if len(readable) == 24 {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			readable = append(readable, r)
		} else if len(readable) > 0 && readable[len(readable)-1] != '-' {
			readable = append(readable, '-')
		}
	}
	return string(readable) + "-" + hex.EncodeToString(sum[:4])
}

// copyFolder copies the CSV files of a graph into a folder that does not have
// them yet. What a run wrote there stays.
func copyFolder(source fs.FS, dir string) error {
	for _, name := range []string{builtin.RelationshipsFile, builtin.NodesFile} {
		if err := copyFile(source, name, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("copy graph: %w", err)
		}
	}
	return nil
}

// copyFile copies a file whole or not at all, and never over another.
func copyFile(source fs.FS, name, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	in, err := source.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return disk.Write(path, disk.Options{Mode: 0o600}, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
