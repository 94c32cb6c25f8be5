// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/notifications"

	"github.com/graphcloak/graphcloak/connector"
)

// Options says where the server is and how to talk to it.
type Options struct {
	URI      string // "": neo4j://localhost:7687
	Username string // "": no authentication
	Password string
	Database string // "": the user's home database
	ReadOnly bool   // refuse to write, whatever the server allows

	Version     string        // of GraphCloak, for the user agent; "": dev
	BatchSize   int           // nodes that a transaction writes; one that reads takes ten times as many; 0: 10,000
	Concurrency int           // sessions at once; 0: 2
	Timeout     time.Duration // of one transaction; 0: 10 minutes

	connectTime time.Duration // of a connection, until the server has answered and let the user in; 0: 10 seconds

	Logger   *slog.Logger                          // nil: silent
	Progress func(stage string, done, total int64) // nil: silent; called from one goroutine at a time
	Notify   func(text string)                     // nil: silent; says why something takes long, from any goroutine
}

// retryTime bounds the attempts at one transaction, retryPause is the mean pause
// before the second; each further one is twice as long, up to longestPause.
//
// shortTime is the server-side timeout of a short transaction: it also frees the lock of a
// client that is gone. The client gives up answerTime later. lostTime bounds the attempts
// to find out whether a commit happened: longer than such a lock or a server restart.
const (
	retryTime    = 10 * time.Second
	retryPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	shortTime    = 30 * time.Second
	answerTime   = 5 * time.Second
	lostTime     = 90 * time.Second
	patience     = 4 * time.Second // before the user is told
)

// Store is a database of a Neo4j server. It is safe for concurrent use.
type Store struct {
	driver  neo4j.DriverWithContext
	options Options
	name    string
	written string // the address as the user wrote it
	server  version
	edition string
	notices connector.Notices
	nodes   connector.PerGraph[*nodeSet]

	constraining sync.Mutex
	constrained  bool
}

// New connects, in one attempt, and checks that the database is there.
// [connector.ErrInput] says that options are wrong, [connector.ErrAuth] that the user may
// not, [connector.ErrNotFound] that there is no such database, [connector.ErrTransient]
// that the server does not answer, and [privacy.ErrUncertain] that the answer to a commit
// was lost. Every call that asks the server may return the last two and ErrAuth, and one
// that decides for a tick [jobs.ErrLost] and [jobs.ErrCanceled], by the [jobs.Fence] of
// its context.
func New(ctx context.Context, o Options) (*Store, error) {
	a, err := parseURI(o.URI)
	if err != nil {
		return nil, err
	}
	o.setDefaults()
	driver, err := neo4j.NewDriverWithContext(a.uri, o.token(), o.configure)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", connector.ErrInput, err)
	}
	s := &Store{driver: driver, options: o}
	for _, n := range a.notices {
		s.notices.Add(n)
	}
	if err := s.connectInTime(ctx); err != nil {
		hangUp(ctx, driver.Close)
		return nil, fmt.Errorf("connect to %s: %w", a.written, err)
	}
	s.written = a.written
	s.name = a.name + "/" + s.options.Database
	return s, nil
}

func (o *Options) setDefaults() {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.BatchSize <= 0 {
		o.BatchSize = 10_000
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 2
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	if o.connectTime <= 0 {
		o.connectTime = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
}

func (o *Options) token() neo4j.AuthToken {
	if o.Username == "" {
		return neo4j.NoAuth()
	}
	return neo4j.BasicAuth(o.Username, o.Password, "")
}

// configure sets up the driver. The class of notices about deprecation is off,
// for id() is used within one reading; the others stay on.
func (o *Options) configure(c *config.Config) {
	c.UserAgent = "graphcloak/" + o.Version
	c.TelemetryDisabled = true
	c.ConnectionAcquisitionTimeout = o.connectTime // from the socket to the server's greeting
	c.SocketConnectTimeout = o.connectTime
	c.NotificationsDisabledCategories = notifications.DisableCategories(notifications.Deprecation)
}

// connectInTime is connect within a time: a peer that accepts the connection
// and stays silent is no Neo4j server, or one that is down.
func (s *Store) connectInTime(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, s.options.connectTime)
	defer cancel()
	err := s.connect(ctx)
	if err != nil && ctx.Err() != nil && parent.Err() == nil {
		return fmt.Errorf("%w: the server does not answer within %v; check that the address is that of its Bolt port",
			connector.ErrTransient, s.options.connectTime)
	}
	return err
}

// connect authenticates and settles the database and the server's version.
func (s *Store) connect(ctx context.Context) error {
	if err := s.driver.VerifyConnectivity(ctx); err != nil {
		return classify(ctx, err)
	}
	name := s.options.Database
	err := s.read(ctx, "connect", func(tx *transaction) error {
		// not of the language
		summary, err := tx.rows("CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0] AS "+
			"version, edition", nil,
			func(r *neo4j.Record) error {
				v, _ := r.Values[0].(string)
				s.server = parseVersion(v)
				s.edition, _ = r.Values[1].(string)
				return nil
			})
		if err != nil || s.options.Database != "" {
			return err
		}
		home := summary.Database()
		if home == nil {
			return fmt.Errorf("%w: the server names no home database; name one with --database", connector.ErrInput)
		}
		s.options.Database = home.Name()
		return nil
	})
	if isCode(err, "Neo.ClientError.Database.DatabaseNotFound") {
		return connector.NotFound("database", name, nil)
	}
	return err
}

// Name returns neo4j://host:port/database, the same whatever the scheme and the
// name of the loopback.
func (s *Store) Name() string { return s.name }

// Version returns the server's version, such as 5.26.0.
func (s *Store) Version() string { return s.server.text }

// Community reports whether the server is of the edition that has no roles.
func (s *Store) Community() bool { return s.edition == "community" }

// Database returns the name of the database.
func (s *Store) Database() string { return s.options.Database }

// Notices returns warnings, each once: an unencrypted connection, relationships that
// were left out.
func (s *Store) Notices() []string { return s.notices.List() }

// Close closes the connections.
func (s *Store) Close(ctx context.Context) error { return s.driver.Close(ctx) }
