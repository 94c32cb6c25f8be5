// SPDX-License-Identifier: Apache-2.0

// Package store holds what every store shares: the errors that a caller acts on,
// the reading of values, and the rules for the properties and the record of a run.
//
// A caller needs only the errors: test with errors.Is for the kind and with
// errors.AsType[*NotFoundError] for the suggestion.
package store
