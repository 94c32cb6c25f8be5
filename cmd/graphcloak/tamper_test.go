// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/strictjson"
)

// node is a JSON value with its keys in order, equal ones included.
type node struct {
	raw  string // of a leaf
	open byte   // '{', '[' or 0
	keys []string
	kids []*node
}

func parse(t *testing.T, text []byte) *node {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n := parseNext(t, d)
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("more than one document: %v", err)
	}
	return n
}

func parseNext(t *testing.T, d *json.Decoder) *node {
	token := must.Get(d.Token())(t)
	delim, ok := token.(json.Delim)
	if !ok {
		raw := must.Get(json.Marshal(token))(t)
		return &node{raw: string(raw)}
	}
	n := &node{open: byte(delim)}
	for d.More() {
		if n.open == '{' {
			key := must.Get(d.Token())(t)
			n.keys = append(n.keys, key.(string))
		}
		n.kids = append(n.kids, parseNext(t, d))
	}
	must.Get(d.Token())(t)
	return n
}

func (n *node) text() string {
	if n.open == 0 {
		return n.raw
	}
	var parts []string
	for i, kid := range n.kids {
		part := kid.text()
		if n.open == '{' {
			part = strconv.Quote(n.keys[i]) + ":" + part
		}
		parts = append(parts, part)
	}
	return string(n.open) + strings.Join(parts, ",") + string(n.open+2)
}

func (n *node) clone() *node {
	c := *n
	c.keys, c.kids = slices.Clone(n.keys), make([]*node, len(n.kids))
	for i, kid := range n.kids {
		c.kids[i] = kid.clone()
	}
	return &c
}

// at follows keys and numbers; nil where there is no such place.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		i := slices.Index(n.keys, name)
		if n.open == '[' {
			i, _ = strconv.Atoi(name)
		}
		if i < 0 || i >= len(n.kids) {
			return nil
		}
		n = n.kids[i]
	}
	return n
}

// alteration is one change of a document at one place.
type alteration struct {
	path, kind string
	doc        *node
}

// alterations changes every field of a document, the first and the last element of
// every list included, in every way that fits it. The fields are those that the
// document has: a new one is altered without another word.
func alterations(doc *node) (all []alteration) {
	var walk func(path []string)
	alter := func(path []string, kind string, change func(parent *node, i int)) {
		c := doc.clone()
		parent := c.at(path[:len(path)-1]...)
		i := slices.Index(parent.keys, path[len(path)-1])
		if parent.open == '[' {
			i, _ = strconv.Atoi(path[len(path)-1])
		}
		change(parent, i)
		all = append(all, alteration{"/" + strings.Join(path, "/"), kind, c})
	}
	set := func(raw string) func(*node, int) {
		return func(parent *node, i int) { parent.kids[i] = &node{raw: raw} }
	}
	walk = func(path []string) {
		n := doc.at(path...)
		if len(path) > 0 {
			inObject := doc.at(path[:len(path)-1]...).open == '{'
			name := path[len(path)-1]
			alter(path, "delete", func(p *node, i int) {
				if inObject {
					p.keys = slices.Delete(p.keys, i, i+1)
				}
				p.kids = slices.Delete(p.kids, i, i+1)
			})
			alter(path, "null", set("null"))
			if inObject {
				alter(path, "twice", func(p *node, i int) { p.keys, p.kids = append(p.keys, name), append(p.kids, p.kids[i].clone()) })
				alter(path, "wrong case", func(p *node, i int) { p.keys[i] = strings.ToUpper(name[:1]) + name[1:] })
				alter(path, "another key", func(p *node, i int) { p.keys[i] = name + "s" })
				alter(path, "a key more", func(p *node, i int) {
					p.keys, p.kids = append(p.keys, name+"2"),
						append(p.kids, &node{raw: "1"})
				})
			} else {
				alter(path, "an element twice", func(p *node, i int) { p.kids = append(p.kids, p.kids[i].clone()) })
			}
			for kind, raw := range replacements(n) {
				if raw != n.text() {
					alter(path, kind, set(raw))
				}
			}
		}
		for i := range n.kids {
			switch {
			case n.open == '{':
				walk(append(slices.Clone(path), n.keys[i]))
			case i == 0 || i == len(n.kids)-1:
				walk(append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
	walk(nil)
	if sensors := doc.at("sensors"); sensors != nil && len(sensors.kids) > 1 {
		whole := func(kind string, change func(kids []*node)) {
			c := doc.clone()
			change(c.at("sensors").kids)
			all = append(all, alteration{"/sensors", kind, c})
		}
		for _, number := range []string{"0", "1", "-1", "99"} {
			whole("all are node "+number, func(kids []*node) {
				for _, s := range kids {
					s.at("node").raw = number
				}
			})
		}
		whole("ids exchanged", func(kids []*node) {
			a, b := kids[0].at("nodeId"), kids[1].at("nodeId")
			a.raw, b.raw = b.raw, a.raw
		})
		whole("order", func(kids []*node) { kids[0], kids[1] = kids[1], kids[0] })
	}
	return all
}

// replacements are other values for a place, by kind.
func replacements(n *node) map[string]string {
	switch c := n.raw + string(n.open); {
	case n.open == '{':
		return map[string]string{"type": "[]", "empty": "{}"}
	case n.open == '[':
		return map[string]string{"type": "{}", "empty": "[]"}
	case c[0] == '"':
		return map[string]string{
			"type": "1", "empty": `""`, "longer": c[:len(n.raw)-1] + `x"`, "control": `"\u001b[2J"`,
			"long": `"` + strings.Repeat("x", 5000) + `"`,
		}
	case c[0] == 't' || c[0] == 'f':
		return map[string]string{"type": "1", "opposite": map[byte]string{'t': "false", 'f': "true"}[c[0]]}
	case c[0] == 'n':
		return map[string]string{"type": "1"}
	}
	out := map[string]string{
		"type": strconv.Quote(n.raw), "huge": "1e308", "overflow": "1e999", "tiny": "1e-308", "negative": "-1",
		"zero": "0", "integer overflow": "99999999999999999999",
	}
	if x, err := strconv.ParseFloat(n.raw, 64); err == nil && x != 0 {
		for kind, y := range map[string]float64{"negated": -x, "times 16": 16 * x, "over 16": x / 16, "a little more": x * (1 + 1e-6)} {
			out[kind] = strconv.FormatFloat(y, 'g', -1, 64)
		}
		if k, err := strconv.ParseInt(n.raw, 10, 64); err == nil {
			out["one more"] = strconv.FormatInt(k+1, 10)
		}
	}
	return out
}

// reseal computes every digest of a plan or release file again, as anyone who forges one
// would.
func reseal(t *testing.T, doc *node) {
	t.Helper()
	hash := func(parts ...[]byte) string {
		var all []byte
		for _, p := range parts {
			all = append(binary.BigEndian.AppendUint32(all, uint32(len(p))), p...)
		}
		return fmt.Sprintf(`"%x"`, sha256.Sum256(all))
	}
	number := func(n *node) []byte {
		k := int64(0)
		if n != nil {
			k, _ = strconv.ParseInt(n.raw, 10, 64)
		}
		return binary.BigEndian.AppendUint64(nil, uint64(k))
	}
	word := func(n *node) (s string) {
		if n != nil {
			_ = json.Unmarshal([]byte(n.raw), &s)
		}
		return s
	}
	if plan := doc.at("release", "plan"); plan != nil && doc.at("release", "planDigest") != nil && doc.at("release", "digest") != nil &&
		doc.at("release", "values") != nil {
		doc.at("release", "planDigest").raw = hash([]byte("graphcloak/v1/plan"), []byte(plan.text()))
		digest := must.Get(hex.DecodeString(word(doc.at("release", "planDigest"))))(t)
		parts := [][]byte{
			[]byte("graphcloak/v1/release"), []byte(word(doc.at("release", "releaseId"))), digest,
			[]byte(word(doc.at("release", "deployment"))), number(doc.at("release", "epoch")),
		}
		for _, v := range doc.at("release", "values").kids {
			parts = append(parts, number(v.at("steps")))
		}
		doc.at("release", "digest").raw = hash(parts...)
	}
	i := slices.Index(doc.keys, "documentDigest")
	if i < 0 {
		return
	}
	rest := doc.clone()
	rest.keys, rest.kids = slices.Delete(rest.keys, i, i+1), slices.Delete(rest.kids, i, i+1)
	canonical, err := strictjson.Canonical([]byte(rest.text()))
	if err == nil {
		doc.kids[i].raw = fmt.Sprintf(`"%x"`, sha256.Sum256(canonical))
	}
}

// reader is what a command does with a file; its settings are resolved once, since
// that takes longer than the rest.
type reader struct {
	config *config.Config
	read   func(a *app, path string) error
}

func newReader(t *testing.T, read func(*app, string) error, args ...string) reader {
	t.Helper()
	a := newApp(args, strings.NewReader(""), io.Discard, io.Discard)
	cmd := a.withSettings(&cobra.Command{Use: "test"}, map[string]string{"mode": "stats"}, config.Groups())
	cmd.SetContext(t.Context())
	must.Do(t, cmd.ParseFlags(args))
	must.Do(t, a.prepare(cmd, nil))
	return reader{a.config, read}
}

// code reads the file as the command does, and returns the exit code and what is said.
func (r reader) code(t *testing.T, path string) (int, string) {
	t.Helper()
	var errs bytes.Buffer
	a := newApp(nil, strings.NewReader(""), io.Discard, &errs)
	a.config = r.config
	code := a.finish(t.Context(), r.read(a, path))
	return code, errs.String()
}

// readers are the commands that take a plan, and those that take a release.
func readers(t *testing.T) map[string]map[string]reader {
	t.Helper()
	ctx := t.Context()
	release := func(a *app, path string) error {
		var p graphcloak.Plan
		if err := a.readUnder(path, "plan", &p, &p.Model); err != nil {
			return err
		}
		return a.release(ctx, &p, fromSensors{})
	}
	verify := func(a *app, path string) error {
		var r graphcloak.Release
		if err := a.readUnder(path, "release", &r, &r.Model); err != nil {
			return err
		}
		return a.verify(ctx, &r, "")
	}
	recover := func(a *app, path string) error {
		s, err := a.openStore(ctx)
		if err != nil {
			return err
		}
		defer s.Close(ctx)
		return a.recoverRelease(ctx, s, path)
	}
	from := []string{"--from", "folder:g"}
	return map[string]map[string]reader{
		"plan":    {"release": newReader(t, release, append(from, "--source-property", "source", "--dry-run")...)},
		"release": {"verify": newReader(t, verify, from...), "recover": newReader(t, recover, from...)},
	}
}

// tampering holds the files of one release and what reads them.
type tampering struct {
	plan, release *node
}

// makeFiles plans and releases on a small graph with one of the allocations.
func makeFiles(t *testing.T, args ...string) tampering {
	t.Helper()
	kit(t)
	nodes, relationships := "id,source\n", "source,target\n"
	for i := range 12 {
		nodes += fmt.Sprintf("n%02d,%d\n", i, i/11)
		relationships += fmt.Sprintf("n%02d,n%02d\n", i, (i+1)%12)
		if i%4 != 3 {
			relationships += fmt.Sprintf("n%02d,n%02d\n", i, i/4*4+3)
		}
	}
	writeGraph(t, "g", nodes, relationships)
	for _, c := range [][]string{
		append([]string{"plan", "--from", "folder:g", "--epsilon", "4", "--delta", "0.1", "-o", "plan.json"}, args...),
		{"release", "--from", "folder:g", "--plan", "plan.json", "--source-property", "source", "-o", "release.json"},
		{"verify", "--from", "folder:g", "release.json", "--plan", "plan.json"},
		{"recover", "--from", "folder:g", "--release", "release.json"},
		{"release", "--from", "folder:g", "--plan", "plan.json", "--source-property", "source", "--dry-run"},
	} {
		succeeds(t, c...)
	}
	read := func(name string) *node {
		text := must.Get(os.ReadFile(name))(t)
		return parse(t, text)
	}
	return tampering{read("plan.json"), read("release.json")}
}

// free lists what a forged file may say although everything in it is checked: choices
// of anyone who plans, and statements that make nothing weaker. The pattern is matched
// against "path kind"; the reason is why it is let through.
var free = []struct{ pattern, commands, reason string }{
	{`(/release/plan)?/clip/.*`, "release recover", "the range that readings are clipped to is the planner's choice; the ledger knows " +
		"the plan that was paid for"},
	{`.*/?expectedAccuracy delete`, "release verify recover", "a plan need not be simulated"},
	{
		`.*/expectedAccuracy/(chance|meanEmd|meanElsewhere|credibleSetSize|credibleSetSizeKnownMass) .*`, "release verify recover",
		"simulations are not repeated; verify says so",
	},
	{`/expectedAccuracy/(limit|communities)(/.*)? .*`, "release verify recover", "nothing that is released rests on them; verify says so"},
	{
		`/communities delete|/communities/count one more`, "release verify recover",
		"a reader compares them with its own, and says so; nothing rests on them",
	},
	{
		`/communities/detection/(gamma|randomSeed) (delete|huge|tiny|one more|a little more|times 16|over 16)`,
		"release verify recover", "a setting that a detection can have; a reader compares it with its own, and says so",
	},
	{`/warnings.*`, "release verify", "they are for the reader, and nothing rests on them"},
	{`/allocation/gap(Proven)? .*`, "release verify recover", "how good an allocation is weakens no guarantee; verify says so"},
	{
		`.*/(s|whitenedS)ensitivity/lower (zero|tiny|over 16)`, "release verify recover",
		"a lower end that is lower is a true statement; noise follows the upper one",
	},
	{`(/release/plan)?/normError a little more`, "release recover", "within the rounding of μ: more is charged, not less"},
	{`/release/releaseId longer`, "recover", "verify asks the ledger, recover does not"},
	{`/signal/sourceProperty .*`, "verify recover", "no number follows from the name of a property; verify says so"},
}

// try hands an altered file to the commands and returns those that take it.
func try(t *testing.T, a alteration, resealed bool, commands map[string]reader) (survived []string) {
	t.Helper()
	must.Do(t, os.WriteFile("altered.json", []byte(a.doc.text()), 0o644))
	for name, r := range commands {
		code, said := r.code(t, "altered.json")
		switch {
		case code == 0:
			survived = append(survived, name)
		case !slices.Contains([]int{exitValidation, exitConflict, exitNotFound, exitUsage}, code):
			t.Errorf("%s of %s, %s, resealed %v: exit %d: %s", name, a.path, a.kind, resealed, code, said)
		case len(strings.TrimSpace(said)) < 20 || strings.ContainsAny(said, "\x1b\u009b"):
			t.Errorf("%s of %s, %s: the message is %q", name, a.path, a.kind, said)
		}
	}
	return survived
}

// tamperAll tries every alteration; otherwise every third, so that each field has some.
var tamperAll = flag.Bool("tamper-all", false, "try every alteration of plan and release files")

// TestTamperedFiles alters every field of a plan and of a release, once as it is and
// once with every digest computed again, and hands it to the commands.
func TestTamperedFiles(t *testing.T) {
	for name, args := range map[string][]string{
		"allocated": nil,
		"uniform":   {"--allocation", "uniform"},
		"perSensor": {"--guarantee", "perSensor"},
	} {
		t.Run(name, func(t *testing.T) {
			f := makeFiles(t, args...)
			commands := readers(t)
			tried, taken, passed := 0, 0, 0
			for file, doc := range map[string]*node{"plan": f.plan, "release": f.release} {
				for k, a := range alterations(doc) {
					if k%3 != 0 && !*tamperAll {
						continue
					}
					tried++
					if s := try(t, a, false, commands[file]); len(s) > 0 {
						taken++
						t.Errorf("%s: %s, %s: taken by %v", file, a.path, a.kind, s)
					}
					if strings.HasSuffix(strings.ToLower(a.path), "digest") && !strings.HasSuffix(a.path, "graphDigest") {
						continue
					}
					reseal(t, a.doc)
					tried++
					for _, command := range try(t, a, true, commands[file]) {
						known := slices.ContainsFunc(free, func(c struct{ pattern, commands, reason string }) bool {
							return regexp.MustCompile("^(?:"+c.pattern+")$").MatchString(a.path+" "+a.kind) &&
								strings.Contains(c.commands, command)
						})
						if passed++; !known {
							taken++
							t.Errorf("%s, digests computed again: %s, %s: taken by %s", file, a.path, a.kind, command)
						}
					}
				}
			}
			t.Logf("%d tried, %d taken; %d free statements were taken", tried, taken, passed)
		})
	}
}
