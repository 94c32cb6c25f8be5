// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/audit"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/report"
)

// auditOptions is what an audit attacks, and how hard.
type auditOptions struct {
	plan     string
	packages []string
	trials   int
}

func newAuditCommand(app *app) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Try to refute a plan's guarantee by attacking its mechanism",
		Long: "audit runs the mechanism of a plan on made-up readings as far apart as the plan's sensitivity, at one sensor, over\n" +
			"all of them, between two, and, where a graph is named, on the readings of its worst neighbours; it bounds ε from\n" +
			"below by how well the best distinguisher tells them apart (Clopper and Pearson, confidence 1 − 10⁻⁶). It holds\n" +
			"the noise against what the plan states: the σ of every sensor, independence of sensors and of releases, no\n" +
			"repeats. It attacks the lowest bits of the output, and computes δ exactly on small lattices. With --package it\n" +
			"runs `graphcloak cloak` on sensor packages, in a state of their own, and holds its noise against theirs. It ends\n" +
			"with exit code 6 where a guarantee is refuted. It spends nothing and reads no signal. It can refute a guarantee,\n" +
			"not prove one: the proofs are in docs/proofs.",
		Example: "  graphcloak audit --plan plan.json\n  graphcloak audit --from example:karate --epsilon 1 --trials 20000\n" +
			"  graphcloak audit --package sensor-17.json,sensor-18.json --trials 500",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.trials < 100:
				return fail(exitUsage, "--trials is %d, want ≥ 100", o.trials)
			case len(o.packages) > 0 && o.plan != "":
				return fail(exitUsage, "--package does not go with --plan").hint(
					"audit the plan and its packages one after the other")
			case len(o.packages) > 0:
				return app.auditPackages(cmd.Context(), o)
			}
			return app.audit(cmd.Context(), o)
		},
	}
	cmd = app.withSettings(cmd, nil,
		config.GroupConnection, config.GroupSource, config.GroupProjection, config.GroupQueries, config.GroupDiffusion, config.GroupSensors,
		config.GroupSignal, config.GroupPrivacy, config.GroupCommunity, config.GroupOutput, config.GroupExecution)
	f := cmd.Flags()
	f.StringVar(&o.plan, "plan", "", "plan `FILE`; otherwise a plan is made from the settings")
	f.StringSliceVar(&o.packages, "package", nil, "sensor package `FILE`s, instead of a plan")
	f.IntVar(&o.trials, "trials", 100_000, "releases on each side, a `NUMBER`; at most 2,000 of packages, each of which is synced")
	return cmd
}

// auditedPlan reads a plan or makes one, in which case its graph gives readings of
// neighbours.
func (a *app) auditedPlan(ctx context.Context, path string) (*privacy.Plan, []audit.Pair, error) {
	if path != "" {
		var p graphcloak.Plan
		err := a.readPlan(path, &p)
		return p.Plan, nil, err
	}
	job, err := a.job()
	if err != nil {
		return nil, nil, err
	}
	var plan *privacy.Plan
	var pairs []audit.Pair
	err = a.onModel(ctx, job, func(m *graphcloak.Model) error {
		p, err := m.Plan(ctx, job.Plan)
		if err != nil {
			return err
		}
		plan = p.Plan
		if x, y, ok := m.WorstReadings(plan); ok {
			pairs = append(pairs, audit.Pair{A: x, B: y})
		}
		return nil
	})
	return plan, pairs, err
}

// audit attacks the mechanism.
func (a *app) audit(ctx context.Context, o auditOptions) error {
	p, pairs, err := a.auditedPlan(ctx, o.plan)
	if err != nil {
		return err
	}
	noise, err := throwawayNoise(p.Randomness)
	if err != nil {
		return err
	}
	r, err := audit.Run(ctx, p, audit.OfPlan(p, noise), audit.Options{Trials: o.trials, Pairs: pairs, Progress: a.progress})
	if err == nil {
		err = r.Enumerate(ctx, p)
	}
	if err != nil {
		return asRefusal(err)
	}
	return a.showAudit(p, r)
}

// showAudit shows what was found, and fails where the plan is refuted.
func (a *app) showAudit(p *privacy.Plan, r *audit.Report) error {
	result := struct {
		*audit.Report
		Verdict      string   `json:"verdict"`
		Guarantee    string   `json:"guarantee"`
		NotProtected []string `json:"notProtected"`
	}{r, r.String(), p.Sentence(), report.ExposedBy(p)}
	if err := a.render(result, term.Section{Title: "Audit", Text: r.String()},
		term.Section{Title: "Guarantee", Text: p.Sentence()}); err != nil {
		return err
	}
	if !r.Refuted {
		return nil
	}
	return fail(exitValidation, "the audit refutes (ε = %v, δ = %v): at least ε = %.3f; noise like this has probability %.3g "+
		"under the plan", p.Epsilon, p.Delta, max(r.Distinguish.Epsilon, r.LowBits.Epsilon), r.Noise.Probability).
		hint("run it again: chance alone does this three times in a million; if it stays, publish nothing and report it")
}

// throwawayNoise is noise for made-up readings: under escrow randomness, of a random
// secret that is not kept.
func throwawayNoise(r privacy.Randomness) (privacy.Noise, error) {
	if r != privacy.EscrowRandomness {
		return nil, nil
	}
	secret := make([]byte, privacy.KeySize)
	rand.Read(secret)
	return privacy.NewEscrow(secret, "audit", 0)
}

// packageTrials bounds the releases of packages: a sensor syncs its state for each.
const packageTrials = 2000

// auditPackages holds the noise of cloak against the packages of some sensors.
func (a *app) auditPackages(ctx context.Context, o auditOptions) (err error) {
	dir, err := os.MkdirTemp("", "graphcloak-audit")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sensors := make(cloaks, 0, len(o.packages))
	defer func() { err = errors.Join(err, sensors.stop()) }()
	noise := make([]privacy.SensorNoise, 0, len(o.packages))
	readings := make([]float64, 0, len(o.packages))
	for i, path := range o.packages {
		p, err := sensor.ReadFile(path)
		if err != nil {
			return asRefusal(err)
		}
		c, err := startCloak(ctx, p, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return asRefusal(err)
		}
		sensors, noise, readings = append(sensors, c), append(noise, p.Sensor), append(readings, min(max(0, p.Clip.Lo), p.Clip.Hi))
	}
	n, err := audit.CheckNoise(ctx, sensors.mechanism(), readings, noise,
		audit.Options{Trials: min(o.trials, packageTrials), Progress: a.progress})
	if err != nil {
		return asRefusal(err)
	}
	result := struct {
		Noise   audit.Noise `json:"noise"`
		Refuted bool        `json:"refuted"`
		Verdict string      `json:"verdict"`
	}{n, n.Refuted, n.String()}
	if err := a.render(result, term.Section{Title: "Audit", Text: n.String()}); err != nil || !n.Refuted {
		return err
	}
	return fail(exitValidation, "the noise of cloak is not what its packages state: noise like this has probability %.3g under them",
		n.Probability).
		hint("run it again: chance alone does this once in a million; if it stays, publish nothing and report it")
}

// cloaks are running sensors, one a package.
type cloaks []*cloak

type cloak struct {
	in     *io.PipeWriter
	values *io.PipeReader
	out    *json.Decoder
	done   chan error
}

// startCloak starts the sensor's side of a package in a state of its own, without the
// package's limit, and under escrow with a key that is forgotten.
func startCloak(ctx context.Context, p sensor.Package, state string) (*cloak, error) {
	p.Limit = 0
	options := sensor.CloakOptions{StateDir: state}
	if p.Randomness == privacy.EscrowRandomness {
		secret := make([]byte, privacy.KeySize)
		rand.Read(secret)
		var err error
		if options.Key, err = privacy.NewSensorKey(secret); err != nil {
			return nil, err
		}
	}
	readings, in := io.Pipe()
	out, values := io.Pipe()
	c := &cloak{in, out, json.NewDecoder(out), make(chan error, 1)}
	go func() {
		err := sensor.Cloak(ctx, p, readings, values, options)
		readings.CloseWithError(io.ErrClosedPipe)
		values.CloseWithError(err)
		c.done <- err
	}()
	return c, nil
}

// mechanism sends a reading to every sensor and takes what each publishes.
func (c cloaks) mechanism() audit.Mechanism {
	release := 0
	return func(y []float64) ([]float64, error) {
		release++
		for i, s := range c {
			if _, err := fmt.Fprintf(s.in, "{\"releaseId\": \"%d\", \"reading\": %v}\n", release, y[i]); err != nil {
				return nil, fmt.Errorf("a sensor has stopped: %w", err)
			}
		}
		out := make([]float64, len(c))
		for i, s := range c {
			var v privacy.SensorValue
			if err := s.out.Decode(&v); err != nil {
				return nil, err
			}
			out[i] = v.Value
		}
		return out, nil
	}
}

// stop ends all sensors.
func (c cloaks) stop() (err error) {
	for _, s := range c {
		s.in.Close()
		s.values.Close() // what is not read any more blocks nobody
		if e := <-s.done; !errors.Is(e, io.ErrClosedPipe) {
			err = errors.Join(err, e)
		}
	}
	return err
}
