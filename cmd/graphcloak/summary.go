// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/report/page"
)

// summary says under the answer, a line each, what the run spent, what is left, and what
// may come next. What the ledger does not show now is said to be unknown: the run is done.
func (a *app) summary(ctx context.Context, s graphStore, rep *report.Report) term.Section {
	last := append(a.whatWasWritten(rep), term.Item{Mark: "Next", Text: a.nextStep(rep)})
	free := ""
	switch {
	case rep.BudgetScope == "" && (rep.Whisper == nil || a.command == "recover"):
		free = "to recover costs no privacy"
	case rep.Whisper != nil && rep.EpsilonSpent == 0:
		free = "nobody was asked, all answers were kept"
	}
	if free != "" {
		return term.Section{Items: append([]term.Item{{Mark: "Spent", Text: "nothing: " + free}}, last...)}
	}
	spent := term.Item{Mark: "Spent", Text: fmt.Sprintf("ε = %v at δ = %v, from scope %s",
		rep.EpsilonSpent, rep.DeltaSpent, rep.BudgetScope)}
	if w := rep.Whisper; w != nil {
		spent.Text = fmt.Sprintf("ε = %v of each of %s who were asked, from scope %s", rep.EpsilonSpent, peopleOf(w.New), rep.BudgetScope)
	}
	left := term.Item{Mark: "Left", Text: "unknown: `graphcloak budget show` says"}
	if b, err := spentSoFar(ctx, s, rep); err == nil && b != nil {
		left.Text = whatIsLeft(b)
	}
	items := []term.Item{spent}
	if rep.Whisper == nil {
		items = append(items, qualified(rep.Qualification())...)
	}
	return term.Section{Items: append(append(items, left), last...)}
}

// whatWasWritten says where the values of a run went, and how to take them back.
func (a *app) whatWasWritten(rep *report.Report) []term.Item {
	if rep.NodePropertiesWritten == 0 || a.command == "demo" { // which says more
		return nil
	}
	prefix := cmp.Or(a.config.Write.PropertyPrefix, report.DefaultPrefix)
	where := fmt.Sprintf("properties %s… of the nodes", prefix)
	if from, _ := a.source(); from.Kind == config.FromFolder {
		where = fmt.Sprintf("columns %s… of %s", prefix, filepath.Join(from.Arg, "nodes.csv"))
	}
	return []term.Item{{Mark: "Written", Text: fmt.Sprintf("%s in the %s; `graphcloak run --undo %s %s` takes them out",
		report.Count(rep.NodePropertiesWritten, "value"), where, rep.RunID, a.storeFlag())}}
}

// qualified says of what ε and δ are, where it is less than of all values in any case.
func qualified(limits string) []term.Item {
	if limits == "" {
		return nil
	}
	return []term.Item{{Mark: "Promised", Text: "ε and δ are " + limits}}
}

// spentAndNext says below a result what it cost, and what may come next.
func spentAndNext(spent, next string, before ...term.Item) term.Section {
	return term.Section{Items: append(before, term.Item{Mark: "Spent", Text: spent}, term.Item{Mark: "Next", Text: next})}
}

// whatIsLeft describes a scope after a run.
func whatIsLeft(b *page.Budget) string {
	together := fmt.Sprintf("; %d releases together are at ε = %.4g, δ = %v", b.Releases, b.Epsilon, b.Delta) + b.Of()
	if b.PerPerson {
		together = fmt.Sprintf("; %d releases together are at ε = %.4g", b.Releases, b.Epsilon) + b.Of()
	}
	if b.Releases == 1 {
		together = ""
	}
	if b.CapEpsilon == 0 {
		return "no cap limits this scope: `graphcloak budget set` sets one" + together
	}
	per := ""
	if b.Per != "" {
		per = " per " + b.Per
	}
	if b.PerPerson {
		return fmt.Sprintf("ε = %.4g of the cap ε = %v%s of each person", b.Left, b.CapEpsilon, per) + together
	}
	return fmt.Sprintf("ε = %.4g of the cap ε = %v%s at δ = %v", b.Left, b.CapEpsilon, per, b.CapDelta) + together
}

// nextStep is the command that shows more of a run.
func (a *app) nextStep(rep *report.Report) string {
	const all = "-v shows every number and the guarantee in words"
	switch {
	case a.page != nil:
		return "open the report; " + all
	case rep.NodePropertiesWritten > 0:
		return fmt.Sprintf("graphcloak report %s %s", rep.RunID, a.storeFlag())
	}
	return "--report FILE shows it with a map; " + all
}

// storeFlag names the store of this command for another.
func (a *app) storeFlag() string {
	if a.config.From.Kind == config.FromNeo4j || a.config.From.Kind == "" {
		return "--uri " + term.QuoteShell(a.config.Connection.URI)
	}
	return "--from " + term.QuoteShell(a.config.From.String())
}

// exposed is in short what every report says in full.
func exposed(r *report.Report) term.Section {
	if len(r.NotProtected) == 0 {
		return term.Section{}
	}
	if r.Whisper != nil {
		return term.Section{Text: "Not protected: the graph, who was asked, and what the answers of others say about you (-v " +
			"has it in full)."}
	}
	return term.Section{Text: "Not protected: the graph and the parameters, that there is a source, what several releases say together, " +
		"and sources far apart (-v has it in full)."}
}

func peopleOf(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}
