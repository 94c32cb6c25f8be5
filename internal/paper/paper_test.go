// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLook writes everything for a look, where asked to.
func TestLook(t *testing.T) {
	dir := os.Getenv("PAPER_OUT")
	if dir == "" {
		t.Skip("set PAPER_OUT")
	}
	var all []*Result
	for _, e := range Exhibits() {
		start := time.Now()
		r, err := e.Run(t.Context(), Options{Seed: 1, Quick: os.Getenv("FULL") == ""})
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %v", e.Name, time.Since(start))
		for _, c := range r.Claims {
			t.Logf("  printed %v true %v: %s: %s", c.PrintedHolds, c.TrueHolds, c.Statement, c.Found)
		}
		all = append(all, r)
	}
	files, err := Files(all, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_ = bytes.Equal
}
