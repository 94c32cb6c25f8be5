// SPDX-License-Identifier: Apache-2.0

// Package instance opens the graphs that simulations run on.
package instance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm/tau"
)

// With loads a graph and calls do with the model, whose communities are the planted ones
// where there are any. Name is that of a folder below data, or
// describes a generator, as in "sbm,n=500,k=2,in=0.05,out=0.001,seed=1".
func With(ctx context.Context, data, name string, t float64, do func(m *graphcloak.Model) error) (err error) {
	return Open(ctx, data, name, graphcloak.Settings{Tau: tau.At(t)}, do)
}

// Open is [With] for other settings.
func Open(ctx context.Context, data, name string, set graphcloak.Settings, do func(m *graphcloak.Model) error) (err error) {
	dir := filepath.Join(data, name)
	if strings.Contains(name, ",") {
		g, err := builtin.Parse(name)
		if err != nil {
			return err
		}
		source, err := g.Folder()
		if err != nil {
			return err
		}
		if dir, err = os.MkdirTemp("", "instance"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := os.CopyFS(dir, source); err != nil {
			return err
		}
		set.Communities.Property = source.Community
	}
	s, err := folder.New(ctx, dir, folder.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	m, err := graphcloak.Load(ctx, s, set, graphcloak.LoadOptions{})
	if err != nil {
		return err
	}
	return do(m)
}
