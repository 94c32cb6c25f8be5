// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
)

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
	if err := s.connectInTime(ctx); err != nil {
		hangUp(ctx, driver.Close)
		return nil, fmt.Errorf("connect to %s: %w", a.written, err)
	}
	s.written = a.written
	s.name = a.name + "/" + s.options.Database
	return s, nil
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
