// SPDX-License-Identifier: Apache-2.0

package paper

// Exhibits lists all, in the order of the paper.
func Exhibits() []Exhibit {
	return []Exhibit{
		{"mechanism", "The Gaussian mechanism and its calibration", "Lemma and Proposition of section 2.1", mechanism},
		{"definitions", "Definitions and misprints, in both readings", "Sections 1 to 4 and the appendix", definitions},
		{"lemmas", "Ill-conditioned, almost rank one, and the rows of singular vectors", "Lemmas of sections 2.1 and 5", lemmas},
		{"backdoor", "The backdoor: noise that its owner can take off", "Section 2.2", backdoor},
		{"figure-1", "Two sources on the unit interval, and what is recovered", "Figure 1, section 4", figure1},
		{"figure-2", "The sensitivity on the unit interval against m, n and t", "Figure 2, section 4", figure2},
		{"table-1", "The error of recovery against n, m and T, and both theorems", "Table 1 and the theorems of section 4", table1},
		{"table-2", "The sensitivity of standard graphs", "Table 2, section 5", table2},
		{"figure-graph", "A source in a graph of communities", "Figure 3, section 5", figureGraph},
	}
}
