// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/sensor"
)

func newCloakCommand(app *app) *cobra.Command {
	var path, state, key string
	var answers bool
	var sigmaMin, epsilonMax float64
	cmd := &cobra.Command{
		Use:   "cloak",
		Short: "The sensor's side: readings in, private readings out",
		Long: "cloak reads one reading a line, {\"releaseId\": \"1\", \"reading\": 0.7}, and writes what may be published. All it\n" +
			"needs is the sensor's package, made by `graphcloak plan --sensor-package-dir`. Release ids must grow (1, 2, …, 10). With\n" +
			"--answers it is a person's side of a question of yes or no: {\"truth\": true} in, the answer out; the answer of a round\n" +
			"is kept and given again.",
		Example: "  read-meter | graphcloak cloak --package sensor-17.json > private.ndjson\n" +
			"  echo '{\"releaseId\": \"1\", \"reading\": 0.7}' | graphcloak cloak --package sensor-17.json --sigma-min 0.2\n" +
			"  echo '{\"truth\": true}' | graphcloak cloak --answers --package Ann.json --epsilon-max 2",
		GroupID: groupPipeline,
		RunE: func(cmd *cobra.Command, _ []string) error {
			app.rendered = true // standard output holds private readings and nothing else
			if path == "" {
				return fail(exitUsage, "no sensor package is named").hint(
					"give --package FILE, made by `graphcloak plan --sensor-package-dir DIR`")
			}
			if !(sigmaMin >= 0) || !(epsilonMax >= 0) {
				return fail(exitUsage, "--sigma-min is %v, --epsilon-max %v, want numbers ≥ 0", sigmaMin, epsilonMax)
			}
			if answers {
				return app.cloakAnswer(path, state, key, epsilonMax)
			}
			p, err := sensor.ReadFile(path)
			if err != nil {
				return asRefusal(err)
			}
			options := sensor.CloakOptions{StateDir: state, SigmaMin: sigmaMin}
			if options.Key, err = sensorKey(p.Randomness, key); err != nil {
				return err
			}
			if state == "" {
				if options.StateDir, err = stateDir("sensors", slug(string(p.Sensor.ID))); err != nil {
					return err
				}
			}
			return asRefusal(sensor.Cloak(cmd.Context(), p, app.stdin, term.JSONWriter{To: app.stdout}, options))
		},
	}
	cmd = app.withSettings(cmd, nil, nil)
	cmd.Annotations = map[string]string{flagsOnly: "true"}
	f := cmd.Flags()
	f.StringVar(&path, "package", "", "sensor package `FILE`")
	f.StringVar(&state, "state-dir", "", "`DIR` of the sensor's counter and budget; one of its own under $XDG_STATE_HOME/graphcloak "+
		"unless given")
	f.StringVar(&key, "key", "", "`FILE` with the sensor's own key, mode 0600; with escrow randomness only")
	f.BoolVar(&answers, "answers", false, "the package is of a person and a question of yes or no")
	f.Float64Var(&epsilonMax, "epsilon-max", 0, "with --answers: say no more about a rumour than this ε `NUMBER` pays for; the package's "+
		"unless given")
	f.Float64Var(&sigmaMin, "sigma-min", 0, "refuse a package with a smaller σ than this `NUMBER`")
	return cmd
}

// cloakAnswer gives the answer of one person to one question.
func (app *app) cloakAnswer(path, state, key string, epsilonMax float64) error {
	p, err := sensor.ReadAnswerFile(path)
	if err != nil {
		return asRefusal(err)
	}
	options := sensor.AnswerOptions{StateDir: state, EpsilonMax: epsilonMax}
	if options.Key, err = sensorKey(p.Randomness, key); err != nil {
		return err
	}
	if state == "" {
		if options.StateDir, err = stateDir("people", slug(string(p.Person))); err != nil {
			return err
		}
	}
	return asRefusal(sensor.CloakAnswer(p, app.stdin, term.JSONWriter{To: app.stdout}, options))
}

// sensorKey reads the key that an escrow package asks for.
func sensorKey(randomness privacy.Randomness, path string) (*privacy.SensorKey, error) {
	escrow := randomness == privacy.EscrowRandomness
	switch {
	case escrow && path == "":
		return nil, fail(exitUsage, "the package asks for escrow randomness, and no key is given").
			hint("give --key FILE, the sensor's key that `graphcloak key derive` made")
	case !escrow && path != "":
		return nil, fail(exitUsage, "the package asks for system randomness: there is nothing that a key could do").hint("leave --key out")
	case !escrow:
		return nil, nil
	}
	secret, err := sensor.ReadKeyFile(path)
	if err != nil {
		return nil, asRefusal(err)
	}
	return privacy.NewSensorKey(secret)
}
