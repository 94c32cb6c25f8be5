// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
)

// table is one of the tables of a study.
type table struct {
	title   string // a sentence
	columns []string
	rows    [][]string
}

// print writes Markdown.
func (t table) print() {
	if t.title != "" {
		fmt.Printf("%s\n\n", t.title)
	}
	row := func(cells []string) {
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
	}
	row(t.columns)
	fmt.Println("|" + strings.Repeat("---|", len(t.columns)))
	for _, r := range t.rows {
		row(r)
	}
	fmt.Println()
}

// rate writes a share as .xx, and a number outside of [0, 1] as it is.
func rate(x float64) string {
	if x < 0 || x >= 1 || math.IsNaN(x) {
		return fmt.Sprintf("%.2f", x)
	}
	return strings.TrimPrefix(fmt.Sprintf("%.2f", x), "0")
}
