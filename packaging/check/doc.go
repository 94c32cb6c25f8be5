// SPDX-License-Identifier: Apache-2.0

// Package check holds what is handed to systemd, Kubernetes and Prometheus against their
// own readers. It has tests only.
package check
