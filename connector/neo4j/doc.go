// SPDX-License-Identifier: Apache-2.0

// Package neo4j keeps graphs, runs and the ledger in Neo4j, over plain Bolt.
//
// Start with [New]. The [Store] that it returns reads a graph in a few large
// records (columns of thousands of values, never one row per edge), writes the
// properties of a run in batches that shrink when the server is short of memory,
// and keeps the ledger of what was spent. [Store.Import] loads a folder of CSV
// files; [Doctor] says what is missing and what to do about it.
//
// Nothing is installed in the database. Every value travels as a parameter, every
// name as one or quoted ([Quote]), reads run in read access mode, and a session
// always names its database.
package neo4j
