// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/config"
)

// answering gives init a terminal, and answers its questions in order.
func answering(t *testing.T, ctx context.Context, answers [][2]string, args ...string) error {
	t.Helper()
	a, s := onScreen(t, args...)
	town(t)
	cmd := a.withSettings(&cobra.Command{Use: "init"}, nil, config.Groups()...)
	cmd.SetContext(ctx)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() { failed <- a.initialise(cmd, settingsFile, false) }()
	for _, x := range answers {
		s.wait(t, x[0])
		if _, err := s.keyboard.WriteString(x[1] + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	return <-failed
}

// TestInterview: an answer replaces a part of the proposal, a wrong name is asked again,
// and what depends on an answer is proposed again.
func TestInterview(t *testing.T) {
	err := answering(t, t.Context(), [][2]string{
		{"Node labels (or Shop) [Place]: ", "Plaice"},
		{`Did you mean "Place"?`, "Place"},
		{"Relationship types (or SELLS) [PATH,ROAD]: ", ""},
		{"Private property with the sources, from 0 to 1 (or sick) []: ", "sick"},
		{"identifies a node (or street) [id]: ", "street"},
		{"community (none: detected) [ward]: ", "-"},
		{"weight (none: 1)", ""},
		{"length (none: hops) (or since) [length]: ", "-"},
		{"with a sensor", ""},
		{"know a node by", ""},
	}, "--from", "folder:town")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Layers{File: settingsFile})
	if err != nil {
		t.Fatal(err)
	}
	if c.Projection.NodeKey != "street" || c.Community.Property != "" || c.Privacy.Metric != "hops" || c.Signal.SourceProperty != "sick" {
		t.Errorf("key %q, community %q, metric %q, signal %q", c.Projection.NodeKey, c.Community.Property, c.Privacy.Metric,
			c.Signal.SourceProperty)
	}
}

// TestInterviewEnds: what is cut short leaves nothing behind.
func TestInterviewEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, s := onScreen(t, "--from", "folder:town")
	town(t)
	cmd := a.withSettings(&cobra.Command{Use: "init"}, nil, config.Groups()...)
	cmd.SetContext(ctx)
	failed := make(chan error)
	go func() { failed <- a.initialise(cmd, settingsFile, false) }()
	s.wait(t, "Node labels")
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("init ends with %v", err)
	}
	if found, err := os.ReadDir("."); err != nil || len(found) != 1 {
		t.Errorf("beside the graph there are %v (%v)", found, err)
	}
}
