// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/graphcloak/graphcloak/community"
	"github.com/graphcloak/graphcloak/connector"
	"github.com/graphcloak/graphcloak/connector/builtin"
	"github.com/graphcloak/graphcloak/expm"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/graph/snapshot"
	"github.com/graphcloak/graphcloak/internal/database"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/jobs"
	"github.com/graphcloak/graphcloak/jobs/serve"
	"github.com/graphcloak/graphcloak/laplacian/response"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/allocation"
	"github.com/graphcloak/graphcloak/privacy/highwater"
	"github.com/graphcloak/graphcloak/privacy/sensitivity"
	"github.com/graphcloak/graphcloak/privacy/sensor"
	"github.com/graphcloak/graphcloak/recovery"
	"github.com/graphcloak/graphcloak/recovery/whisper"
	"github.com/graphcloak/graphcloak/run"
	"github.com/graphcloak/graphcloak/study"
	"github.com/graphcloak/graphcloak/study/inspect"
	"github.com/graphcloak/graphcloak/study/simulate"
)

// sentinel ties an error of a package to an exit code, and to what the user can
// do where the error does not say it.
type sentinel struct {
	err        error
	exit       int
	suggestion string
}

// sentinels lists the errors on which a command acts. The first match counts.
func sentinels() []sentinel {
	const graphData = "the message names the offender: fix the data, or select without it"
	return []sentinel{
		{connector.ErrNotFound, exitNotFound, "check the spelling"},
		{connector.ErrReadOnly, exitAuth, "the ledger is kept beside the data: use a store that takes writes"},
		{connector.ErrAuth, exitAuth, "check the rights, and for a server user name and password: `graphcloak doctor` tests them"},
		{serve.ErrNoToken, exitUsage, "give --token-file FILE, made by `openssl rand -hex 32 > FILE; chmod 600 FILE`, or listen on " +
			"127.0.0.1"},
		{serve.ErrPlain, exitUsage, "give --tls-certificate FILE, or none where a proxy before it encrypts"},
		{serve.ErrTokenFile, exitValidation, "chmod 600 it"},
		{serve.ErrToken, exitValidation, "make one with `openssl rand -hex 32 > FILE`"},
		{serve.ErrTLS, exitValidation, ""},
		{serve.ErrInUse, exitConflict, "stop it, or give another --listen HOST:PORT"},
		{serve.ErrListen, exitValidation, "give another --listen HOST:PORT"},
		{jobs.ErrNoJob, exitNotFound, "`graphcloak job list` shows every job"},
		{jobs.ErrHeld, exitConflict, "wait for its end, or stop it by `graphcloak job cancel NAME`"},
		{jobs.ErrUnfinished, exitConflict, "`graphcloak job run NAME` completes it"},
		{jobs.ErrPast, exitConflict, "`graphcloak job show NAME` says how it ended"},
		{jobs.ErrInvalid, exitConflict, "fix it where it is written: in the settings file, or on its node in the store; `graphcloak job " +
			"show NAME` shows it"},
		{jobs.ErrLost, exitConflict, "another instance goes on with the run: `graphcloak job show NAME`"},
		{connector.ErrConflict, exitConflict, ""},
		{connector.ErrInput, exitValidation, ""},
		{snapshot.ErrSnapshot, exitValidation, "make it again by `graphcloak graph snapshot FILE`"},
		{disk.ErrShared, exitValidation, "take the right away: chmod go-w FILE"},
		{snapshot.ErrSelection, exitConflict, "choose the same nodes and relationships, or make another snapshot"},
		{sensor.ErrReading, exitValidation, "a line is like {\"releaseId\": \"1\", \"reading\": 0.7}; nothing was spent or " +
			"published for it"},
		{connector.ErrTransient, exitTransient, "try again; for a server, `graphcloak doctor` tests the connection"},
		{privacy.ErrOverBudget, exitBudget, "nothing was released, and no waiting helps: use a smaller --epsilon, or let its owner " +
			"raise the cap by `graphcloak budget set`"},
		{privacy.ErrExhausted, exitBudget, "nothing was released; the data have given what they may"},
		{run.ErrNoCap, exitBudget, "limit it first: `graphcloak budget set --create --budget-scope NAME --epsilon E --delta D`, " +
			"with the NAME above and the same --from or --uri"},
		{privacy.ErrRollback, exitConflict, "it was restored from an older copy, or is one of two clones, or was deleted: `graphcloak " +
			"budget reconcile` books what was spent since and lets it go on; with --other-data where other data are in its place"},
		{highwater.ErrUnreadable, exitConflict, "restore the file; without it nobody here knows whether the ledger went back"},
		{highwater.ErrSameLedger, exitConflict, "leave --other-data out"},
		{privacy.ErrReplay, exitConflict, "every release needs an id of its own"},
		{privacy.ErrMismatch, exitConflict, "give the files that belong together: a release, a package and what a sensor sent go with " +
			"the plan that they were made under"},
		{privacy.ErrChain, exitConflict, "the record of what was spent was changed by hand: restore it from a backup"},
		{privacy.ErrReveal, exitAuth, "give the key that the release was made with"},
		{privacy.ErrNotPrivate, exitValidation, "use a smaller --epsilon"},
		{plan.ErrComputed, exitValidation, "name the readings by --measurement-property, or leave --scenario and a range " +
			"of --tau out"},
		{plan.ErrEachSensor, exitValidation, "leave --scenario and a range of --tau out, or take --guarantee joint"},
		{plan.ErrTau, exitValidation, "give a smaller --tau, or --tau auto"},
		{study.ErrEvents, exitValidation, "fix the file of --events: a row for each reading, event,source,sensor,reading"},
		{plan.ErrOperator, exitValidation, "give the operators in their order, as the file was made: --operator FILE, once for each"},
		{response.ErrInvalid, exitValidation, "the message names the entry: fix it in the file of --operator"},
		{plan.ErrAlternative, exitValidation, "the message names the scenario: fix its rows in the file of --scenario"},
		{privacy.ErrGuarantee, exitValidation, "give the --guarantee of the releases before"},
		{privacy.ErrInput, exitValidation, "change the value that the message names"},
		{privacy.ErrImprecise, exitValidation, "use a smaller --tau"},
		{plan.ErrMemory, exitMemory, "use fewer nodes, or --sudo to try all the same"},
		{plan.ErrGraphChanged, exitConflict, "plan again for the graph as it is, with `graphcloak plan -o FILE`"},
		{plan.ErrPlan, exitConflict, "make the plan again, for the graph as it is, with `graphcloak plan -o FILE`"},
		{plan.ErrForeignQuery, exitValidation, "read it: it would run with your rights; if you want that, give the very same text " +
			"with --node-query or --relationship-query"},
		{run.ErrKey, exitUsage, "give --key and --deployment together, or neither"},
		{run.ErrPaidMeanwhile, exitTransient, "run it again"},
		{run.ErrAnswered, exitConflict, "plan the next round with --round, or let `graphcloak run` ask those who have none"},
		{privacy.ErrUncertain, exitTransient, "try again; for a server, `graphcloak doctor` tests the connection"},
		{run.ErrUnpaid, exitNotFound, "name the store that the release was made in"},
		{privacy.ErrJoin, exitConflict, "what was lost is booked where releases have one guarantee and one node key"},
		{simulate.ErrScenario, exitUsage, "`graphcloak evaluate --help-all` says what each is"},
		{study.ErrTarget, exitValidation, "`graphcloak plan --epsilon E` shows how often the answer is right at one " +
			"ε; of a whisper, --reach NUMBER says how many have heard, where that is known"},
		{plan.ErrIsolated, exitValidation, "nothing was spent; --isolated drop leaves these nodes out of graph, sensors, sources " +
			"and answer, --isolated allow goes on and does not protect a source there"},
		{plan.ErrEmpty, exitValidation, "check labels, types, query and sensors"},
		{plan.ErrNoSignal, exitUsage, "give --source-property, --measurement-property or --answer-property"},
		{plan.ErrSignalPublic, exitUsage, "what is public shapes plan and report without noise: name another property there, or " +
			"leave it out"},
		{run.ErrMissingSignal, exitValidation, "check --source-property or --answer-property, and the selection"},
		{run.ErrSignalKind, exitUsage, "give --measurement-property, or plan again with --source-property"},
		{run.ErrRound, exitConflict, "give that --epsilon, or ask everybody again in the next --round"},
		{run.ErrBadSignal, exitValidation, "fix the values, or name another property"},
		{database.ErrDamaged, exitConflict, "it records what was spent: restore it from a backup; without one, count the whole " +
			"budget as spent"},
		{disk.ErrRefused, exitValidation, "name a regular file; a password can come through --password-file -"},
		{builtin.ErrUnknown, exitNotFound, "`graphcloak graph list` shows the names"},
		{builtin.ErrSpec, exitUsage, "`graphcloak graph list` shows the families and their parameters"},
		{sensitivity.ErrUncertainty, exitValidation, "declare less, or select a smaller part of the graph"},
		{expm.ErrAccuracy, exitValidation, "use a smaller --tau"},
		{recovery.ErrInvalid, exitValidation, ""},
		{whisper.ErrInvalid, exitValidation, ""},
		{allocation.ErrInvalid, exitValidation, ""},
		{graph.ErrDuplicateNode, exitValidation, graphData},
		{graph.ErrUnknownNode, exitValidation, graphData},
		{graph.ErrBadWeight, exitValidation, "fix them in the store or the CSV file"},
		{graph.ErrBadLength, exitValidation, "fix them in the store or the CSV file"},
		{graph.ErrChange, exitValidation, graphData},
		{graph.ErrParallel, exitValidation, "choose an --aggregation, such as SUM"},
		{graph.ErrTooLarge, exitMemory, "select fewer nodes"},
		{graph.ErrImpossible, exitValidation, "change the numbers of the generator"},
		{community.ErrInvalid, exitValidation, "change the parameter that the message names"},
		{community.ErrMissing, exitValidation, "give every node the property, or leave --community-property out"},
		{inspect.ErrEmpty, exitValidation, "check labels, types and queries"},
	}
}
