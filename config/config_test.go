// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
)

var update = flag.Bool("update", false, "rewrite the reference page")

// clearEnv hides the variables of the machine that runs the test.
func clearEnv(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "NEO4J_") || strings.HasPrefix(name, config.EnvPrefix) {
			t.Setenv(name, "")
		}
	}
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(fs, nil, config.Groups()...)
	must.Do(t, fs.Parse(args))
	return fs
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func load(t *testing.T, l config.Layers) *config.Config {
	t.Helper()
	return must.Get(config.Load(l))(t)
}

// Every row of the table can be set in every layer that it allows, and the
// strongest layer that has it wins; there are 16 subsets of four layers.
func TestPrecedence(t *testing.T) {
	layers := []config.Layer{config.LayerFlag, config.LayerEnv, config.LayerDotEnv, config.LayerFile}
	for mask := range 16 {
		t.Run(fmt.Sprintf("%04b", mask), func(t *testing.T) {
			clearEnv(t)
			want, winner := 0.0, config.LayerDefault
			l := config.Layers{}
			for i := len(layers) - 1; i >= 0; i-- { // weakest first
				if mask&(1<<i) == 0 {
					continue
				}
				want, winner = float64(10+i), layers[i]
				value := fmt.Sprint(want)
				switch layers[i] {
				case config.LayerFlag:
					l.Flags = flags(t, "--tau", value)
				case config.LayerEnv:
					t.Setenv("GRAPHCLOAK_TAU", value)
				case config.LayerDotEnv:
					l.DotEnv, l.DotEnvPath = map[string]string{"GRAPHCLOAK_TAU": value}, ".env"
				case config.LayerFile:
					l.File = file(t, "c.yaml", "tau: "+value+"\n")
				}
			}
			c := load(t, l)
			if c.Diffusion.Tau.Value() != want || c.Origin("tau").Layer != winner {
				t.Errorf("tau = %v from %s, want %v from %s", c.Diffusion.Tau, c.Origin("tau"), want, winner)
			}
		})
	}
}

func TestOwnVariableWinsOverTwin(t *testing.T) {
	clearEnv(t)
	t.Setenv("NEO4J_URI", "bolt://127.0.0.1:1")
	c := load(t, config.Layers{DotEnv: map[string]string{"GRAPHCLOAK_NEO4J_URI": "bolt://127.0.0.1:3"}})
	if c.Connection.URI != "bolt://127.0.0.1:1" || c.From.Kind != config.FromNeo4j || c.Origin("neo4jUri").String() != "NEO4J_URI" {
		t.Errorf("uri %s from %s, source %v", c.Connection.URI, c.Origin("neo4jUri"), c.From)
	}
	t.Setenv("GRAPHCLOAK_NEO4J_URI", "bolt://127.0.0.1:2")
	if c := load(t, config.Layers{}); c.Connection.URI != "bolt://127.0.0.1:2" {
		t.Errorf("uri %s, want that of GRAPHCLOAK_NEO4J_URI", c.Connection.URI)
	}
}

func TestEveryKind(t *testing.T) {
	clearEnv(t)
	t.Setenv("NEO4J_PASSWORD", "pw")
	c := load(t, config.Layers{Flags: flags(t,
		"--uri", "bolt://localhost", "-u", "me", "-d", "db", "--from", "generate:sbm,n=500,k=2",
		"--node-labels", "A,B", "--node-labels", `"C,D"`, "--relationship-types", "*", "--relationship-weight-property", "w",
		"--aggregation", "max",
		"--clip", "-1..2", "--strict", "--property-prefix", "x",
	)})
	if got := c.Projection.NodeLabels; !slices.Equal(got, []string{"A", "B", "C,D"}) {
		t.Errorf("nodeLabels = %q", got)
	}
	if c.Projection.RelationshipTypes != nil {
		t.Errorf("relationshipTypes * = %q, want none (all)", c.Projection.RelationshipTypes)
	}
	if c.Projection.Aggregation != "MAX" || c.Projection.RelationshipWeightProperty != "w" {
		t.Errorf("projection %+v", c.Projection)
	}
	if c.Privacy.Clip != (config.Clip{Low: -1, High: 2}) {
		t.Errorf("recovery %+v", c.Recovery)
	}
	if c.From != (config.From{Kind: config.FromGenerate, Arg: "sbm,n=500,k=2"}) {
		t.Errorf("from %+v", c.From)
	}
	if !c.Execution.Strict {
		t.Errorf("execution %+v", c.Execution)
	}
	if c.Connection.URI != "bolt://localhost" || c.Connection.Username != "me" || c.Connection.Password.Reveal() != "pw" ||
		c.Connection.Database != "db" || c.Write.PropertyPrefix != "x" {
		t.Errorf("connection %+v, prefix %q", c.Connection, c.Write.PropertyPrefix)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	clearEnv(t)
	t.Setenv("GRAPHCLOAK_DELTA", "1")
	path := file(t, "c.yaml", "alpha: 0\ntao: 3\nneo4jPassword: hunter2\nforce: true\nnested: {a: 1}\n")
	_, err := config.Load(config.Layers{Flags: flags(t, "--epsilon", "NaN", "--tau", "two", "--allocation", "optimla"), File: path})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`epsilon is "NaN" (flag --epsilon), want a number > 0 (1e-06 to 1000)`,
		`tau is "two" (flag --tau), want auto, a number > 0, or where sensors measure FROM..TO with 0 < FROM < TO, such as 1.5..2.5`,
		`delta is "1" (GRAPHCLOAK_DELTA), want a number in (0, 1), at least 1e-300`,
		`alpha is "0" (file ` + path + `), want a number > 0`,
		path + `:2: unknown key "tao": did you mean tau?`,
		path + `:3: unknown key "neo4jPassword": a file holds no password`,
		path + `:4: unknown key "force": give it as the flag --force`,
		path + `:5: unknown key "nested": `,
		`want optimal|uniform; did you mean optimal?`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the password is printed")
	}
}

func TestBadValues(t *testing.T) {
	clearEnv(t)
	check := func(args ...string) {
		if _, err := config.Load(config.Layers{Flags: flags(t, args...)}); err == nil {
			t.Errorf("%q is accepted", args)
		} else if strings.Contains(err.Error(), "u:p@") {
			t.Errorf("%q: a password is printed: %v", args, err)
		}
	}
	for flag, values := range map[string][]string{
		"--tau": {
			"0", "-1", "Inf", "1e999", "", "2..1", "2..2", "0..1",
			"-1..1", "1..NaN", "NaN..1", "1..Inf", "1..", "..1", "..", "1..2..3", "1...2.x",
		},
		"--epsilon":            {"0"},
		"--delta":              {"0", "1"},
		"--alpha":              {"-2"},
		"--metric":             {""},
		"--from":               {"folder:", "foldr:x", "neo4j:x"},
		"--uri":                {"localhost:7687", "neo4j://u:p@h", "ftp://h", "bolt://"},
		"--property-prefix":    {"a-b", "", "1a"},
		"--node-labels":        {"A,,B", "", " ", "A, ,B", "A\nB", `"A`},
		"--relationship-types": {"\t"},
		"--sensor-property":    {" "},
		"--node-key":           {"\n"},
		"--clip":               {"2..1", "1..1", "1", "0..NaN", "-Inf..1"},
		"--deployment":         {"a/-1", "a/4294967296", "a/b", "/1"},
	} {
		for _, value := range values {
			check(flag, value)
		}
	}
	check("--strict=maybe")
	check("--source-property", "a", "--measurement-property", "b")
	check("--node-labels", "A", "--node-query", "q")
}

// Of two ways to the password the stronger layer counts, the other is dropped.
func TestPasswordWays(t *testing.T) {
	clearEnv(t)
	t.Setenv("NEO4J_PASSWORD", "from-env")
	c := load(t, config.Layers{Flags: flags(t, "--password-file", "f")})
	if c.Connection.Password != "" || c.Connection.PasswordFile != "f" {
		t.Errorf("%q and %q, want the file alone", c.Connection.Password.Reveal(), c.Connection.PasswordFile)
	}
	c = load(t, config.Layers{File: file(t, "c.yaml", "passwordFile: g\n")})
	if c.Connection.Password.Reveal() != "from-env" || c.Connection.PasswordFile != "" {
		t.Errorf("%q and %q, want the variable alone", c.Connection.Password.Reveal(), c.Connection.PasswordFile)
	}
}

func TestSecretNeverPrints(t *testing.T) {
	clearEnv(t)
	const planted = "s3cr3t-planted"
	t.Setenv("NEO4J_PASSWORD", planted)
	c := load(t, config.Layers{})
	text := must.Get(json.Marshal(c))(t)
	entries := must.Get(json.Marshal(c.Entries()))(t)
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d\n%s%s", *c, *c, c.Connection.Password, c.Connection.Password, c.Connection.Password,
		c.Connection.Password, c.Connection.Password, text, entries)
	if strings.Contains(all, planted) || strings.Contains(all, fmt.Sprintf("%x", planted)) {
		t.Errorf("the password is in %s", all)
	}
	if c.Connection.Password.Reveal() != planted {
		t.Error("the password is lost")
	}
	if !strings.Contains(string(entries), `"neo4jPassword","value":"***"`) {
		t.Errorf("no mask in %s", entries)
	}
}

func TestAddressOfTheBrowser(t *testing.T) {
	clearEnv(t)
	for _, uri := range []string{"https://db.example.org:7473/browser", "http://localhost:7474", "HTTP://localhost"} {
		_, err := config.Load(config.Layers{Flags: flags(t, "--uri", uri)})
		if err == nil || !strings.Contains(err.Error(), "often neo4j://HOST:7687") {
			t.Errorf("%s: %v, want an error with the address of Bolt", uri, err)
		}
	}
	c := load(t, config.Layers{Flags: flags(t, "--uri", "bolt://db.example.org")})
	if len(c.Warnings()) != 1 || !strings.Contains(c.Warnings()[0], "not encrypted") {
		t.Errorf("warnings %q, want one about clear text", c.Warnings())
	}
	for _, local := range []string{"bolt://localhost:1", "neo4j://127.0.0.1", "bolt://[::1]:1", "neo4j+s://db.example.org"} {
		if c := load(t, config.Layers{Flags: flags(t, "--uri", local)}); len(c.Warnings()) != 0 {
			t.Errorf("%s warns %q", local, c.Warnings())
		}
	}
}

func TestMisspeltVariableWarns(t *testing.T) {
	clearEnv(t)
	t.Setenv("GRAPHCLOAK_EPSILN", "3")
	c := load(t, config.Layers{})
	if len(c.Warnings()) != 1 || !strings.Contains(c.Warnings()[0], "did you mean GRAPHCLOAK_EPSILON?") {
		t.Errorf("warnings %q", c.Warnings())
	}
}

// A setting is one row: its key, flag and variables are its own, its default
// passes its own check, and it stands in the reference.
func TestTable(t *testing.T) {
	clearEnv(t)
	page := config.Reference()
	seen := make(map[string]string)
	own := func(name, key string) {
		if other, ok := seen[name]; ok {
			t.Errorf("%s and %s share %s", key, other, name)
		}
		seen[name] = key
	}
	fs := flags(t)
	if n := len(config.Settings()); n > 56 { // 55, and a given operator
		t.Errorf("there are %d settings, at most 56 are wanted: each costs every reader of the help", n)
	}
	for _, s := range config.Settings() {
		own("key "+strings.ToLower(s.Key), s.Key)
		own("flag "+s.Flag, s.Key)
		if s.Short != "" {
			own("short "+s.Short, s.Key)
		}
		for _, name := range s.Env {
			own(name, s.Key)
		}
		if s.Help == "" || s.For == "" || (fs.Lookup(s.Flag) == nil) != s.Secret() || !slices.Contains(config.Groups(), s.Group) {
			t.Errorf("%s: help, who chooses it, flag or group is missing", s.Key)
		}
		if !strings.Contains(page, "- `"+s.Key+"`") {
			t.Errorf("%s is not in the reference", s.Key)
		}
	}
}

func TestReferencePage(t *testing.T) {
	path := filepath.Join("..", "docs", "reference", "configuration.md")
	if *update {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(config.Reference()), 0o644))
	}
	page, err := os.ReadFile(path)
	if err != nil || string(page) != config.Reference() {
		t.Errorf("%s is not that of the table (%v): run `go test ./config -update`", path, err)
	}
}

func TestCommandDefaults(t *testing.T) {
	clearEnv(t)
	defaults := map[string]string{"epsilon": "4"}
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(fs, defaults, config.GroupPrivacy)
	if got := fs.Lookup("epsilon").DefValue; got != "4" {
		t.Errorf("help shows %q", got)
	}
	if fs.Lookup("tau") != nil {
		t.Error("a flag of another group")
	}
	if c := load(t, config.Layers{Flags: fs, Defaults: defaults}); c.Privacy.Epsilon != 4 {
		t.Errorf("epsilon = %v", c.Privacy.Epsilon)
	}
	t.Setenv("GRAPHCLOAK_EPSILON", "2")
	if c := load(t, config.Layers{Flags: fs, Defaults: defaults}); c.Privacy.Epsilon != 2 {
		t.Errorf("epsilon = %v, want the variable's", c.Privacy.Epsilon)
	}
}

func ExampleLoad() {
	fs := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	config.AddFlags(fs, nil, config.GroupPrivacy)
	if err := fs.Parse([]string{"--epsilon", "-1"}); err != nil {
		panic(err)
	}
	_, err := config.Load(config.Layers{Flags: fs})
	fmt.Println(err)
	// Output: config: epsilon is "-1" (flag --epsilon), want a number > 0 (1e-06 to 1000)
}

// TestEmptyFlag: what keeps a run from spending twice is not
// left out because a variable of a script is not set.
func TestEmptyFlag(t *testing.T) {
	for _, flag := range []string{"--scenario", "--once-per"} {
		_, err := config.Load(config.Layers{Flags: flags(t, flag+"=")})
		if wrong, ok := errors.AsType[*config.Error](err); !ok || wrong.Origin.Layer != config.LayerFlag {
			t.Errorf("%s: %v", flag, err)
		}
	}
	if _, err := config.Load(config.Layers{Flags: flags(t, "--database=")}); err != nil {
		t.Error(err)
	}
}

// TestFlagOfACommand: a flag of a command's own is none of a setting, whatever its name.
func TestFlagOfACommand(t *testing.T) {
	fs := pflag.NewFlagSet("release", pflag.ContinueOnError)
	fs.String("release-id", "", "which of several")
	must.Do(t, fs.Parse([]string{"--release-id", "1"}))
	if _, err := config.Load(config.Layers{Flags: fs}); err != nil {
		t.Error(err)
	}
}
