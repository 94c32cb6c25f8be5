// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

// commands lists every command, in the order of the help.
func commands(app *app) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(app),
		newRunCommand(app),
		newPlanCommand(app),
		newReleaseCommand(app),
		newCloakCommand(app),
		newRecoverCommand(app),
		newReportCommand(app),
		newRevealCommand(app),
		newVerifyCommand(app),
		newAuditCommand(app),
		newEvaluateCommand(app),
		newEstimateCommand(app),
		newInspectCommand(app),
		newBudgetCommand(app),
		newServeCommand(app),
		newJobCommand(app),
		newRunsCommand(app),
		newKeyCommand(app),
		newGraphCommand(app),
		newInitCommand(app),
		newDoctorCommand(app),
		newConfigCommand(app),
		newVersionCommand(app),
		newExitCodesTopic(app),
	}
}
