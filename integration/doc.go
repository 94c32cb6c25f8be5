// SPDX-License-Identifier: Apache-2.0

// Package integration holds the tests against a real Neo4j, and the scripts that
// bring one up.
//
// go test ./integration uses the server of NEO4J_URI (with NEO4J_USERNAME,
// NEO4J_PASSWORD and NEO4J_DATABASE) where that is set; else a container, where
// Docker answers and the image can be had; else the server that neo4j.sh
// assembles from the Maven repository. The tests never skip. What they create
// carries labels of their own, which they remove at the end.
//
// docker.sh runs a command with a Docker daemon of its own and an image that it
// builds from the same files, where no container registry can be reached.
package integration
