// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/notifications"

	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/graph"
)

// Options says where the server is and how to talk to it.
type Options struct {
	URI      string // "": neo4j://localhost:7687
	Username string // "": no authentication
	Password string
	Database string       // "": the user's home database
	ReadOnly bool         // refuse to write, whatever the server allows
	Snapshot string       // the file that the graph is mapped from, without the relationships of the database; "": they are read
	Memory   graph.Memory // that a graph is read into; nil: of the heap

	Version     string        // of GraphCloak, for the user agent; "": dev
	BatchSize   int           // nodes that a transaction writes; one that reads takes ten times as many; 0: 10,000
	Concurrency int           // sessions at once; 0: 2
	Timeout     time.Duration // of one transaction; 0: 10 minutes

	connectTime time.Duration // of a connection, until the server has answered and let the user in; 0: 10 seconds

	Logger   *slog.Logger                          // nil: silent
	Progress func(stage string, done, total int64) // nil: silent; called from one goroutine at a time
	Notify   func(text string)                     // nil: silent; says why something takes long, from any goroutine
}

// Store is a database of a Neo4j server. It is safe for concurrent use.
type Store struct {
	driver  neo4j.DriverWithContext
	options Options
	name    string
	written string // the address as the user wrote it
	server  version
	edition string
	nodes   connector.PerGraph[*nodeSet]

	constraining sync.Mutex
	constrained  bool
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

// Name returns neo4j://host:port/database, the same whatever the scheme and the
// name of the loopback.
func (s *Store) Name() string { return s.name }

// Version returns the server's version, such as 5.26.0.
func (s *Store) Version() string { return s.server.text }

// Community reports whether the server is of the edition that has no roles.
func (s *Store) Community() bool { return s.edition == "community" }

// Database returns the name of the database.
func (s *Store) Database() string { return s.options.Database }

// Close closes the connections.
func (s *Store) Close(ctx context.Context) error { return s.driver.Close(ctx) }

// version of a server: 5.26.0, or 2026.8.1 by the calendar.
type version struct {
	text         string
	major, minor int
}

func parseVersion(text string) version {
	v := version{text: text}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '-' || r == '+' })
	if len(parts) >= 2 {
		v.major, _ = strconv.Atoi(parts[0])
		v.minor, _ = strconv.Atoi(parts[1])
	}
	return v
}

// check refuses a server before 5.26, the oldest that takes names of labels and types as values.
func (v version) check() error {
	if v.major > 5 || v.major == 5 && v.minor >= 26 {
		return nil
	}
	return fmt.Errorf("%w: the server is Neo4j %s", connector.ErrInput, v.text)
}
