// SPDX-License-Identifier: Apache-2.0

// Package connector is the contract of stores, and what they share: the errors that
// a caller acts on, the reading of values, and the rules for the properties and the
// record of a run. Its folders are the stores: neo4j, folder, memory; package
// storetest is the contract as tests.
//
// A caller needs only the errors: test with errors.Is for the kind and with
// errors.AsType[*NotFoundError] for the suggestion.
package connector
