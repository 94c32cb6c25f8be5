// SPDX-License-Identifier: Apache-2.0

// Package browser holds the tests that look at pages in a real Chromium.
package browser
