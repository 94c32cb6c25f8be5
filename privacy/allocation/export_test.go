// SPDX-License-Identifier: Apache-2.0

package allocation

import (
	"context"

	"github.com/graphcloak/graphcloak/privacy/sensitivity"
)

// SensorPeaks returns the squared sensitivities of [PerSensor]'s noise.
func SensorPeaks(ctx context.Context, m sensitivity.Model, d Diffusion) ([]float64, error) {
	p, sensors, err := newUnread(ctx, m, d, nil, Options{Objective: Location})
	if err != nil {
		return nil, err
	}
	return p.sensorPeaks(d, sensors), nil
}

// newProblem reads the rows of the candidates.
func newProblem(ctx context.Context, m sensitivity.Model, diffusion Diffusion, labels []int, opts Options) (*problem, error) {
	p, sensors, err := newUnread(ctx, m, diffusion, labels, opts)
	if err != nil {
		return nil, err
	}
	return p, p.read(ctx, diffusion, sensors)
}
