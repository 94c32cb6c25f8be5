// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"strings"

	"github.com/graphcloak/graphcloak/report"
)

// The answer says no more than the posterior does, and what chance alone would give.
func ExampleReport_SetAnswer() {
	for _, probability := range []float64{0.91, 0.55} {
		r := report.Report{
			NodeCount: 34,
			Communities: []report.Community{
				{Name: "Mr. Hi", Size: 17, Prior: 0.5, Probability: probability},
				{Name: "Officer", Size: 17, Prior: 0.5, Probability: 1 - probability},
			},
			Posterior: report.Posterior{CredibleSetSize: 12},
		}
		r.SetAnswer()
		fmt.Println(strings.Replace(r.Answer, " The source itself", "\nThe source itself", 1))
	}
	// Output:
	// The source is most likely in community Mr. Hi (17 nodes), with probability 91 %.
	// The source itself stays hidden among 12 nodes (95 % credible set).
	// No community stands out: the likeliest, Mr. Hi, has probability 55 %, which was 50 % before the measurements.
	// The source itself stays hidden among 12 nodes (95 % credible set).
}

// What a run will write is known before anything is spent, by name and type.
func ExampleOutline() {
	t := report.Outline("run-1", "", []int{0, 4, 7})
	for _, c := range t.Columns()[:2] {
		fmt.Println(c.Name, "on nodes", c.Nodes)
	}
	fmt.Println(t.RunIDColumn())
	// Output:
	// gcPrivateHeat on nodes [0 4 7]
	// gcPrivateHeatSigma on nodes [0 4 7]
	// gcRunId
}
