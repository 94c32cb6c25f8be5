// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"html/template"
	"image/png"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// quick computes every exhibit once for all tests.
var quick = sync.OnceValues(func() ([]*Result, error) {
	var all []*Result
	for _, e := range Exhibits() {
		r, err := e.Run(context.Background(), Options{Seed: 1, Quick: true})
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
})

func exhibit(name string) Exhibit {
	list := Exhibits()
	return list[slices.IndexFunc(list, func(e Exhibit) bool { return e.Name == name })]
}

func results(t *testing.T) []*Result {
	t.Helper()
	all, err := quick()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// asPrinted lists the statements that hold as the paper prints them; all others that
// it prints fail in what is computed. Seed 1.
var asPrinted = []string{
	"Lemma, ill-conditioned",
	"Lemma, spectrum",
	"Lemma, rows of singular vectors",
	"Lemma, rows of singular vectors, corollary",
	"Leverage scores, the norms of rows of singular vectors",
	"Corollary of section 2.2: a party that holds the seed recovers the measurement",
	"Section 2.2: pseudo-random noise cannot be told from random noise by anyone without the seed",
	"f̂ is close to f₀ in EMD, and not in ℓ₁ or ℓ₂",
	"Δ₂(A) against m",
	"Δ₂(A) against n",
	"Table 1, private noise: the error against n",
	"Table 1, private noise: the error against m",
}

// Each erratum fails in its printed form, and every true form holds.
func TestClaims(t *testing.T) {
	var holding []string
	for _, r := range results(t) {
		for _, c := range r.Claims {
			if !c.TrueHolds && c.Statement != "Table 1, private noise: the error against n" { // two points, four trials: too few
				t.Errorf("%s: %s: what is said to be true was not found: %s", r.Name, c.Statement, c.Found)
			}
			if c.Printed != "" && c.PrintedHolds {
				holding = append(holding, c.Statement)
			}
			if c.Printed != "" && !c.PrintedHolds && c.True == "" {
				t.Errorf("%s: %s fails and nothing is said to hold instead", r.Name, c.Statement)
			}
		}
	}
	if !slices.Equal(holding, asPrinted) {
		t.Errorf("as printed hold %q, want %q", holding, asPrinted)
	}
}

// The limits of a closed form's privacy, and the constants of the interval, to
// values computed with 60 digits.
func TestReferenceValues(t *testing.T) {
	for _, c := range []struct {
		ratio func(eps, delta float64) float64
		delta float64
		want  float64
	}{
		{printedRatio, .1, 39.28493366150648},
		{printedRatio, .01, 142.78329496730217},
		{printedRatio, 1e-5, 902.8275441701592},
		{printedRatio, 1e-10, 3733.6613462564346},
		{textbookRatio, .1, 5.742594921020326},
		{textbookRatio, 1e-5, 8.419771301536342},
		{textbookRatio, 1e-10, 9.849873987252025},
	} {
		got, err := privateUpTo(c.ratio, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if relative(got, c.want) > 1e-8 { // the bisection's width, and GDPEpsilon rounds up
			t.Errorf("private up to ε = %v at δ = %v, want %v", got, c.delta, c.want)
		}
	}
	if math.Abs(smallT-.2233110) > 5e-8 || math.Abs(largeT-.0814338) > 5e-8 {
		t.Errorf("constants %v and %v, want .2233110 and .0814338", smallT, largeT)
	}
	for _, c := range []struct {
		m, n int
		t    float64
		want float64
	}{
		{5, 8, .05, .5332923020791327},
		{5, 8, .1, .2527455418110655},
		{8, 8, .01, 2.3796698465171167},
		{50, 100, .05, .1358971527937657},
		{10, 20, 1, .010782877134792365},
	} {
		got, err := deltaInterval(c.m, c.n, c.t)
		if err != nil {
			t.Fatal(err)
		}
		if relative(got, c.want) > 1e-12 {
			t.Errorf("m = %d, n = %d, T = %v: step %v, want %v", c.m, c.n, c.t, got, c.want)
		}
	}
}

// The same seed gives the same bytes of CSV, at any number of processors, and
// another seed others.
func TestDeterministic(t *testing.T) {
	tables := func(seed uint64, exhibits []Exhibit) map[string]string {
		files := map[string]string{}
		for _, e := range exhibits {
			r, err := e.Run(t.Context(), Options{Seed: seed, Trials: 2, Quick: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Tables {
				files[e.Name] += string(x.csv())
			}
		}
		return files
	}
	one := tables(5, Exhibits())
	before := runtime.GOMAXPROCS(1)
	two := tables(5, Exhibits())
	runtime.GOMAXPROCS(before)
	if !maps.Equal(one, two) {
		t.Error("two runs with one seed differ")
	}
	const slow = "figure-graph"
	other := tables(6, slices.DeleteFunc(Exhibits(), func(e Exhibit) bool { return e.Name == slow }))
	if delete(one, slow); maps.Equal(one, other) {
		t.Error("the seed changes nothing")
	}
}

// Every file is what its name says, and the page needs nothing from elsewhere.
func TestFiles(t *testing.T) {
	all := results(t)
	files, err := Files(all, "Quick.")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, f := range files {
		_, ext, _ := strings.Cut(f.Name, ".")
		kinds[ext]++
		switch ext {
		case "csv":
			if rows, err := csv.NewReader(bytes.NewReader(f.Content)).ReadAll(); err != nil || len(rows) < 2 {
				t.Errorf("%s: %d rows, %v", f.Name, len(rows), err)
			}
		case "png":
			if img, err := png.Decode(bytes.NewReader(f.Content)); err != nil || img.Bounds().Dx() < 400 {
				t.Errorf("%s: %v", f.Name, err)
			}
		case "svg":
			if !bytes.Contains(f.Content, []byte("</svg>")) {
				t.Errorf("%s is no picture", f.Name)
			}
		case "html":
			for _, outside := range []string{"<script", "src=", "url(", "@import", "<link"} {
				if bytes.Contains(f.Content, []byte(outside)) {
					t.Errorf("the page holds %q", outside)
				}
			}
			for _, r := range all {
				for _, c := range r.Claims {
					if !bytes.Contains(f.Content, []byte(strings.ReplaceAll(template.HTMLEscapeString(c.Statement), "+", "&#43;"))) {
						t.Errorf("the page lacks %q", c.Statement)
					}
				}
			}
		}
	}
	if kinds["png"] != kinds["svg"] || kinds["png"] < 4 || kinds["html"] != 1 || kinds["csv"] < 10 {
		t.Errorf("files by kind: %v", kinds)
	}
}

// What is out of range is refused before any work.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Trials: -1},
		{Trials: maxTrials + 1},
	} {
		if _, err := exhibit("figure-1").Run(t.Context(), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v, want ErrOptions", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Exhibits() {
		if e.Name == "mechanism" || e.Name == "backdoor" || e.Name == "definitions" {
			continue // over before one could cancel
		}
		if _, err := e.Run(ctx, Options{Quick: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", e.Name, err)
		}
	}
}

// Points without a logarithm and tables without a number do not spoil the rest.
func TestNoNumber(t *testing.T) {
	if b := exponent([]float64{1, 2, 4, 8}, []float64{3, 0, 12, 24}); math.Abs(b-1) > 1e-12 {
		t.Errorf("exponent %v, want 1", b)
	}
	if b := exponent([]float64{1, 2}, []float64{3, 0}); !math.IsNaN(b) {
		t.Errorf("exponent %v of one point", b)
	}
	table := Table{Columns: []string{"a", "b"}, Rows: [][]any{{math.NaN(), 1.5}}}
	if got := string(table.csv()); got != "a,b\n,1.5\n" {
		t.Errorf("%q", got)
	}
}

// Estimates of trials that are not drawn are not kept.
func TestDrawn(t *testing.T) {
	v, err := newInterval(20, 30, .05, .1)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]attempt, drawnTrials+1)
	for k := range all {
		all[k] = []attempt{{answer: k == drawnTrials}}
	}
	var r runner
	if err := r.figure1Plot(v, peaks(30, .5), all); err != nil || len(r.Plots[0].Panels) != 2 {
		t.Errorf("%+v, %v", r.Plots, err)
	}
}
