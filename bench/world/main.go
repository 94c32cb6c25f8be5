// SPDX-License-Identifier: Apache-2.0

// Command world measures what the answer is worth where the world is not the model and writes the tables of docs/explanation:
//
//	go -C bench run ./world -only fit -trials 400
//
// Every study prints Markdown tables, each under the command line that makes it again.
// Sources and noise come from -seed, so that a row can be repeated; where a search ends by
// a time limit the table says so.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// settings are what all studies share.
type settings struct {
	data   string   // folder of the graphs
	graphs []string // names for instance.With; none: the study's own
	trials int      // for each cell
	seed   uint64

	faults string // random or aimed faults alone; "": both
}

// chosenGraphs returns the graphs to study.
func (s settings) chosenGraphs(own ...string) []string {
	if len(s.graphs) > 0 {
		return s.graphs
	}
	return own
}

// experiment is a study: it makes some tables.
type experiment struct {
	name, about string
	trials      int // unless given
	run         func(context.Context, settings) ([]table, error)
}

// studies lists them in the order in which they run.
func studies() []experiment {
	return []experiment{
		fitStudy(),
		faultyStudy(),
		whisperStudy(),
		scenarioStudy(),
		togetherStudy(),
	}
}

func main() {
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		stop()
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	var s settings
	flag.StringVar(&s.data, "data", "../examples/data", "folder of the graphs")
	flag.IntVar(&s.trials, "trials", 0, "simulated releases for each cell; 0: the study's own number")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of sources and noise")
	flag.StringVar(&s.faults, "faults", "", "faults to study: random, of sensors anywhere, aimed, or none; not given: random and aimed; "+
		"study faulty alone")
	only := flag.String("only", "", "studies to run, separated by commas: "+strings.Join(names(), ", "))
	graphs := flag.String("graphs", "", "graphs to study, separated by semicolons: a folder of -data or a generator; none: the study's own")
	flag.Parse()
	if *graphs != "" {
		s.graphs = strings.Split(*graphs, ";")
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	for _, x := range chosen {
		own := s
		own.trials = cmp.Or(s.trials, x.trials)
		start := time.Now()
		tables, err := x.run(ctx, own)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		log.Printf("%s: %v", x.name, time.Since(start).Round(time.Second))
		fmt.Printf("## %s\n\n%s\n\n", x.name, commandLine(x.name, own))
		for _, t := range tables {
			t.print()
		}
	}
	return nil
}

func names() []string {
	var list []string
	for _, x := range studies() {
		list = append(list, x.name)
	}
	return list
}

// choose returns the studies of a list of names, all for "".
func choose(only string) ([]experiment, error) {
	if only == "" {
		return studies(), nil
	}
	var chosen []experiment
	for name := range strings.SplitSeq(only, ",") {
		k := slices.IndexFunc(studies(), func(x experiment) bool { return x.name == name })
		if k < 0 {
			return nil, fmt.Errorf("there is no study %q, want some of %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, studies()[k])
	}
	return chosen, nil
}

// commandLine is what makes the tables of a study again.
func commandLine(name string, s settings) string {
	more := ""
	if len(s.graphs) > 0 {
		more = fmt.Sprintf(" -graphs '%s'", strings.Join(s.graphs, ";"))
	}
	if s.faults != "" {
		more += " -faults " + s.faults
	}
	return fmt.Sprintf("`go -C bench run ./world -only %s -trials %d -seed %d%s`", name, s.trials, s.seed, more)
}
