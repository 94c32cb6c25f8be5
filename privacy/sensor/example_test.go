// SPDX-License-Identifier: Apache-2.0

package sensor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

// A sensor gets its package once, and makes private values as long as its budget
// lasts.
func ExampleCloak() {
	plan, err := privacy.NewPlan(privacy.Spec{
		Public: privacy.Public{
			NodeCount: 2, RelationshipCount: 1, ComponentCount: 1, Tau: 1, Laplacian: "combinatorial",
			Metric: "hops", Alpha: 1,
		},
		Budget:      privacy.Budget{Epsilon: 1, Delta: 1e-5},
		Sensors:     []privacy.Sensor{{Node: 0, ID: "hall"}, {Node: 1, ID: "stairs"}},
		Sensitivity: privacy.Sensitivity{Lower: 0.19, Upper: 0.2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	packages, err := sensor.Packages(plan, sensor.Options{Releases: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "sensor")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	readings := `{"releaseId": "1", "reading": 0.25}
{"releaseId": "2", "reading": 0.31}
{"releaseId": "3", "reading": 0.28}
`
	var out bytes.Buffer
	err = sensor.Cloak(context.Background(), packages[0], strings.NewReader(readings), &out, sensor.CloakOptions{StateDir: dir})
	for dec := json.NewDecoder(&out); dec.More(); {
		var v privacy.SensorValue
		if err := dec.Decode(&v); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(v.ID, v.ReleaseID, v.Value == float64(v.Steps)*packages[0].Sensor.Step())
	}
	fmt.Println(err)
	// Output:
	// hall 1 true
	// hall 2 true
	// sensor: line 3: privacy: the budget would be exceeded: the sensor has ρ = 0 of 0.07185 left, a release costs 0.03593
}

// A person is asked twice in a round, and has heard the rumour in between: the answer is kept.
func ExampleAnswer() {
	dir, err := os.MkdirTemp("", "person")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	plan := &answer.Plan{
		Question: answer.Question{Rumour: "heard", Round: 1, Epsilon: 1}, People: []privacy.Sensor{{Node: 0, ID: "Ann"}},
	}
	packages, err := plan.Packages("monday", 2, "", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var said []answer.Value
	for _, heard := range []bool{false, true} {
		v, err := sensor.Answer(packages[0], heard, sensor.AnswerOptions{StateDir: dir})
		if err != nil {
			fmt.Println(err)
			return
		}
		said = append(said, v)
	}
	release, err := plan.Collect(said[1:])
	fmt.Println(said[0] == said[1], release.ID(), err)
	// Output: true monday <nil>
}
