// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/jobs/serve"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// What the server reads for the map of one page, which a browser waits for.
const (
	mapNodes = 20_000
	mapTime  = 10 * time.Second
)

// reportPage writes the page of a report that the history holds, with a map where the run
// wrote its values to the nodes and they are there still.
func (a *app) reportPage(s graphStore) func(context.Context, io.Writer, []byte) error {
	return func(ctx context.Context, w io.Writer, data []byte) error {
		rep := new(report.Report)
		if err := strictjson.Unmarshal(data, rep); err != nil {
			return fmt.Errorf("the report in the history: %w", err)
		}
		v, err := a.mapOf(ctx, s, rep)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			a.log.Info("a report without a map", "run", rep.RunID, "error", err)
			v = page.View{Report: rep, NoMap: whyNoMap(err)}
		}
		prefix, _ := rep.Configuration["propertyPrefix"].(string)
		v.Queries, v.NoCurve, v.Command = memberQueries(rep, prefix), noCurveKept, a.repeatedRun(rep)
		if v.Budget, err = spentSoFar(ctx, s, rep); err != nil {
			return err
		}
		return page.Write(w, v)
	}
}

// cost is what a run of a job spends by its settings.
func (r jobRunner) cost(d jobs.Definition) (serve.Cost, bool) {
	a, err := r.of(d)
	if err != nil {
		return serve.Cost{}, false
	}
	return serve.Cost{Scope: scopeOf(a.config), Epsilon: a.config.Privacy.Epsilon, Delta: a.config.Privacy.Delta}, true
}

// Why a page of the server has no map.
var (
	errUnwritten = errors.New("the run wrote no values to the nodes")
	errQueried   = errors.New("the run chose its graph by a query of its own")
	errLarge     = errors.New("the graph is large")
)

func whyNoMap(err error) string {
	const otherwise = "graphcloak report RUNID, with the flags of the run, draws one where it can."
	switch {
	case errors.Is(err, errUnwritten):
		return "The run wrote no values to the nodes, so there is no map: mode write does."
	case errors.Is(err, errReplaced):
		return "There is no map: a later run wrote over the values on the nodes."
	case errors.Is(err, errQueried):
		return "There is no map: the run chose its graph by a query of its own, which the server does not run for a page. " + otherwise
	case errors.Is(err, errLarge), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("There is no map: the server reads graphs of up to %d nodes for a page, and for %s at most. ", mapNodes,
			mapTime) + otherwise
	}
	return "There is no map: the graph of the run could not be read back as it was. " + otherwise
}

// mapOf reads the graph of a run and what it wrote there. The selection is the server's
// with the job's labels, types and properties: what lies in the store has no query run.
func (a *app) mapOf(ctx context.Context, s graphStore, rep *report.Report) (page.View, error) {
	if rep.NodePropertiesWritten == 0 {
		return page.View{}, errUnwritten
	}
	if rep.NodeCount > mapNodes {
		return page.View{}, errLarge
	}
	ctx, cancel := context.WithTimeout(ctx, mapTime)
	defer cancel()
	c, err := a.config.Overlay("the map of a run", selectionOf(rep.Configuration), filedGroups)
	if err != nil {
		return page.View{}, err
	}
	if queried(c) || rep.Configuration["nodeQuery"] != nil || rep.Configuration["relationshipQuery"] != nil {
		return page.View{}, errQueried
	}
	reader := jobRunner{a, s}.with(c)
	own, err := reader.finishedRun(ctx, s, rep.RunID)
	if err != nil {
		return page.View{}, err
	}
	if rep, err = reader.readBack(ctx, s, own, rep); err != nil {
		return page.View{}, err
	}
	v, err := reader.scenery(ctx, s, rep.Nodes().Graph, graphcloak.Signal{SourceProperty: rep.Signal})
	v.Report = rep
	return v, err
}

func queried(c *config.Config) bool {
	return c.Projection.NodeQuery != "" || c.Projection.RelationshipQuery != ""
}

// selectionOf are the settings of a run that chose its graph.
func selectionOf(all map[string]any) map[string]any {
	chosen := make(map[string]any)
	for _, s := range config.Settings() {
		if v, ok := all[s.Key]; ok && (s.Group == config.GroupProjection || s.Key == "metric") {
			chosen[s.Key] = v
		}
	}
	return chosen
}
