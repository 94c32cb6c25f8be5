// SPDX-License-Identifier: Apache-2.0

// Command graphcloak hides exactly where something started on a graph and still
// shows roughly where.
//
// A command is one file with one constructor, listed in commands.go. [app.withSettings] adds the flags of whole groups of
// settings, and has app.config ready when RunE starts; [app.render] prints the result in the form that was asked for;
// [app.create] writes any other file, whole or not at all; [fail] makes an error with an exit code and a hint, and
// sentinels.go has those of packages.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/parallel"
	"github.com/graphcloak/graphcloak/internal/suggest"
	"github.com/graphcloak/graphcloak/report"
)

// run is the whole command: it returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := newApp(args, stdin, stdout, stderr)
	return app.execute(ctx, newRootCommand(app))
}

func (a *app) grace() time.Duration {
	a.settling.Lock()
	defer a.settling.Unlock()
	return grace + a.moreGrace
}

// execute runs a command to its end, or to its grace after the context's.
func (a *app) execute(ctx context.Context, root *cobra.Command) int {
	root.SetArgs(a.args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	defer context.AfterFunc(ctx, a.end)()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				stack := debug.Stack()
				if p, ok := fault.(*parallel.Panic); ok {
					fault, stack = p.Value, p.Stack
				}
				fmt.Fprintf(a.stderr, "%s\n", stack)
				done <- fmt.Errorf("internal error: %v; please report it, with the lines above", fault)
			}
		}()
		done <- root.ExecuteContext(ctx)
	}()
	var err error
	select {
	case err = <-done:
	case <-a.ended:
		select {
		case err = <-done:
		case <-time.After(a.grace()):
			a.settling.Lock()
			err = cmp.Or(ctx.Err(), context.DeadlineExceeded)
			return a.finish(ctx, err)
		}
	}
	defer a.drop() // the command has ended, and in one process others may follow
	a.console.Stop()
	return a.finish(ctx, err)
}

func newRootCommand(app *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "graphcloak",
		Short: "Hide exactly where something started on a graph, and still show roughly where",
		Long: "GraphCloak hides exactly where something started on a graph and still shows roughly where.\n" +
			"It diffuses sources over a graph, adds each sensor's own noise for (ε, δ)-differential privacy,\n" +
			"and recovers the likely source community. Graphs come from Neo4j, CSV folders or shipped examples.",
		Example: "  graphcloak demo\n  graphcloak run --uri neo4j://localhost:7687 --username neo4j --source-property risk " +
			"--mode write",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       readBuild().String(),
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(&cobra.Group{ID: groupPipeline, Title: "Pipeline"}, &cobra.Group{ID: groupManage, Title: "Manage"})
	root.SetHelpCommandGroupID(groupManage)
	root.SetCompletionCommandGroupID(groupManage)
	root.SetFlagErrorFunc(app.flagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(app.help)
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&app.configPath, "config", "", "configuration `FILE` (YAML or JSON)")
	flags.StringVar(&app.envPath, "env", "", "`FILE` with NEO4J_URI and the like, instead of the nearest .env")
	config.AddFlags(flags, nil, config.GroupTerminal)
	flags.BoolVar(&app.helpAll, "help-all", false, "help with every flag, by topic")
	root.PersistentPreRunE = app.prepare
	if len(app.args) > 0 && app.args[0] == "cloak" { // on a small machine, where the flags of all others take megabytes
		root.AddCommand(newCloakCommand(app))
	} else {
		root.AddCommand(commands(app)...)
	}
	for _, cmd := range root.Commands() {
		app.wrapArgs(cmd)
	}
	return root
}

// wrapArgs makes usage errors of what cobra finds wrong with arguments. Anyone who asks for
// help need not give them.
func (a *app) wrapArgs(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		a.wrapArgs(child)
	}
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if a.helpAll {
			return pflag.ErrHelp
		}
		err := cmp.Or(a.oneDash(cmd), check(cmd, args))
		if err == nil || exitCode(err) == exitUsage {
			return err
		}
		// cobra takes the word for a command
		if none := cobra.NoArgs(cmd, args); !cmd.HasSubCommands() && none != nil && none.Error() == err.Error() {
			err = fmt.Errorf("`%s` takes no word beside its flags, and was given %q", cmd.CommandPath(), args[0])
			if cmd.Flags().Lookup("budget-scope") != nil {
				return fail(exitUsage, "%w", err).hint("where %s is a scope, give it as --budget-scope %[1]s", args[0])
			}
		}
		if _, words, ok := strings.Cut(cmd.Use, " "); ok {
			given := "none"
			if len(args) > 0 {
				given = report.Count(len(args), "word")
			}
			err = fmt.Errorf("`%s` takes %s, and was given %s", cmd.CommandPath(), words, given)
		}
		return fail(exitUsage, "%w", err).hint("usage: %s", cmd.UseLine())
	}
}

// oneDash refuses the name of a flag behind one dash, where each letter would be a flag of its own: -delta is --database elta.
func (a *app) oneDash(cmd *cobra.Command) error {
	for _, arg := range a.args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if arg != name && len(name) > 1 && cmd.Flags().Lookup(name) != nil {
			return fail(exitUsage, "-%s has one dash", name).hint("did you mean --%s?", name)
		}
	}
	return nil
}

// flagError explains a flag that the command does not have. Flags are read before
// words: where a word is not a command either, that is the mistake.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	depth := strings.Count(cmd.CommandPath(), " ")
	if cmd.HasSubCommands() && len(a.args) > depth && !strings.HasPrefix(a.args[depth], "-") {
		return unknownCommand(cmd, a.args[depth:depth+1])
	}
	if err := a.oneDash(cmd); err != nil {
		return err
	}
	failure := fail(exitUsage, "%w", err)
	named, ok := err.(interface{ GetSpecifiedName() string })
	if !ok {
		return failure.hint("`%s --help` shows the flags", cmd.CommandPath())
	}
	name := named.GetSpecifiedName()
	if f := cmd.Flags().Lookup(name); f != nil { // it is there, without its value
		value, _ := pflag.UnquoteUsage(f)
		return failure.hint("give its value: --%s %s", name, value)
	}
	for _, s := range config.Settings() {
		if s.Flag == name {
			return failure.hint("`%s` does not use it; `%[1]s --help` shows the flags", cmd.CommandPath())
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := suggest.Nearest(name, names)
	if i := slices.IndexFunc(names, func(long string) bool { return strings.HasSuffix(long, "-"+name) }); near == "" && i >= 0 {
		near = names[i]
	}
	if near != "" {
		return failure.hint("did you mean --%s?", near)
	}
	return failure.hint("`%s --help` shows the flags", cmd.CommandPath())
}
