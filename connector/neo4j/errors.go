// SPDX-License-Identifier: Apache-2.0

package neo4j

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/graphcloak/graphcloak/connector"
)

const (
	codeMemory   = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
	codeTxMemory = "Neo.TransientError.General.TransactionMemoryLimit"

	codeUnavailable = "Neo.TransientError.General.DatabaseUnavailable"

	codeTimedOut       = "Neo.ClientError.Transaction.TransactionTimedOut"
	codeTimedOutClient = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
	codeLockStopped    = "Neo.ClientError.Transaction.LockClientStopped" // timed out in a queue for a lock

	codeReadOnly   = "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase"
	codeAccessMode = "Neo.ClientError.Statement.AccessMode"
)

// errTooLarge is a batch for which the server had too little memory.
var errTooLarge = fmt.Errorf("%w: the server has too little memory for the batch; raise dbms.memory.transaction.total.max",
	connector.ErrTransient)

// kinds maps status codes of the server, by their beginning, to the errors of
// package store. The first match counts.
var kinds = []struct {
	code   string
	kind   error
	advice string
}{
	{"Neo.ClientError.Security.Unauthorized", connector.ErrAuth, "user name or password is wrong"},
	{"Neo.ClientError.Security.AuthenticationRateLimit", connector.ErrAuth, "too many wrong passwords; wait a few seconds"},
	{
		"Neo.ClientError.Security.CredentialsExpired", connector.ErrAuth,
		"the password has expired; change it with ALTER CURRENT USER SET PASSWORD",
	},
	{"Neo.ClientError.Security.", connector.ErrAuth, "see graphcloak doctor --print-setup for the rights that are needed"},
	{"Neo.ClientError.Database.DatabaseNotFound", connector.ErrNotFound, ""},
	{codeReadOnly, connector.ErrReadOnly, "the database does not take writes"},
	{"Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", connector.ErrReadOnly, "the database does not take writes"},
	{"Neo.ClientError.Database.DatabaseUnavailable", connector.ErrTransient, ""},
	{codeAccessMode, connector.ErrInput, "a query that reads the graph must not write"},
	{"Neo.ClientError.Schema.ConstraintValidationFailed", connector.ErrConflict, ""},
	{"Neo.ClientError.Schema.ConstraintCreationFailed", connector.ErrConflict, ""},
	{codeLockStopped, connector.ErrTransient, ""},
	{codeTimedOut, connector.ErrTransient, ""},
	{"Neo.ClientError.Transaction.Terminated", connector.ErrTransient, ""},
	{"Neo.ClientError.Cluster.", connector.ErrTransient, ""},
	{"Neo.TransientError.", connector.ErrTransient, ""},
}

// repeatable reports whether another attempt at the same transaction may help: not
// where the server has too little memory for a batch of this size, or takes no
// writes.
func repeatable(err error) bool {
	return neo4j.IsRetryable(err) && !tooLarge(err) && !isCode(err, codeReadOnly)
}

// classify maps an error of the driver to one of package connector. A context that
// has ended wins: the driver reports it as a lost connection.
func classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if tooLarge(err) {
		return fmt.Errorf("%w (%w)", errTooLarge, err)
	}
	if e, ok := serverError(err); ok {
		return classifyCode(e)
	}
	if _, ok := errors.AsType[*neo4j.InvalidAuthenticationError](err); ok {
		return fmt.Errorf("%w: %w", connector.ErrAuth, err)
	}
	if _, ok := errors.AsType[*neo4j.ConnectivityError](err); ok && isTLSFailure(err) {
		return fmt.Errorf("%w: the encrypted connection is refused; without +s the scheme asks for none, and with +ssc it takes a "+
			"self-signed certificate (%w)", connector.ErrAuth, err)
	}
	if _, ok := errors.AsType[*neo4j.ConnectivityError](err); ok {
		return fmt.Errorf("%w: the server does not answer (%w)", connector.ErrTransient, err)
	}
	return err
}

// isTLSFailure reports whether a connection failed for its certificate or its encryption.
// The driver's own error does not unwrap.
func isTLSFailure(err error) bool {
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "check that TLS is enabled")
}

func classifyCode(e *neo4j.Neo4jError) error {
	for _, k := range kinds {
		if !strings.HasPrefix(e.Code, k.code) {
			continue
		}
		if k.advice == "" {
			return fmt.Errorf("%w: %w", k.kind, e)
		}
		return fmt.Errorf("%w: %s (%w)", k.kind, k.advice, e)
	}
	return e
}

// serverError finds the server's own error.
func serverError(err error) (*neo4j.Neo4jError, bool) {
	return errors.AsType[*neo4j.Neo4jError](err)
}

func isCode(err error, codes ...string) bool {
	e, ok := serverError(err)
	return ok && slices.Contains(codes, e.Code)
}

// tooLarge reports whether a smaller batch may succeed.
func tooLarge(err error) bool { return isCode(err, codeMemory, codeTxMemory) }

// isTooLarge is tooLarge for an error that was classified.
func isTooLarge(err error) bool { return errors.Is(err, errTooLarge) }
