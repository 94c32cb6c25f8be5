// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"time"
)

// Errors of a [Store]. Others say that the store failed, or that the context ended.
var (
	// ErrHeld: the tick, or another of the same job, is claimed and its lease runs.
	ErrHeld = errors.New("jobs: another instance is at this job")
	// ErrUnfinished: a tick of the same job stands open, and is taken over first.
	ErrUnfinished = errors.New("jobs: an earlier tick of this job is unfinished")
	// ErrPast: the tick has ended, or a later one of the same job was claimed.
	ErrPast = errors.New("jobs: this tick is past")
	// ErrLost: the token is not that of the claim: it was taken over, or has ended.
	ErrLost = errors.New("jobs: the claim was lost")
	// ErrNoJob: the store has no such job, tick or run.
	ErrNoJob = errors.New("jobs: not found")
)

// Store keeps jobs, claims and the history of runs beside the graph. Package
// connector/storetest tests its contract. Every method is one transaction.
type Store interface {
	Claims
	Board
	History
}

// Claims says who runs a tick. All methods about ticks of one job run one after the
// other: the store locks the job's name first, then reads the job's latest record, then
// decides by [Admit] and the other rules.
type Claims interface {
	// Now returns the store's own clock, in UTC.
	Now(ctx context.Context) (time.Time, error)
	// Claim takes a tick for lease from now:
	//   - it has no record, no tick of the job is open, and none of a later time has a
	//     record: it is created, with Attempts 1. Uniqueness of (jobName, nominalTime) is
	//     the store's own, a constraint or a key;
	//   - it is open, its lease ran out and RetryAt is past: it is taken over, with the new
	//     token, Attempts one more, and what was saved;
	//   - its lease runs, or RetryAt is to come: [ErrHeld];
	//   - it has ended, or a later one was claimed: [ErrPast], also after its record was
	//     pruned;
	//   - an earlier tick of the job is open: [ErrHeld] while its lease runs or its RetryAt is
	//     to come, else [ErrUnfinished].
	// A call repeated with the token that already holds the tick returns the claim.
	Claim(ctx context.Context, t Tick, by Holder, lease time.Duration) (Claim, error)
	// Renew lets the lease run from now and returns the claim, without what was saved.
	// It renews a lease that ran out too, as long as nobody took the tick over. [ErrLost]
	// where the token is not the claim's.
	Renew(ctx context.Context, t Tick, token string, lease time.Duration) (Claim, error)
	// Save keeps what the run needs to go on elsewhere, in place of what was kept.
	// It is durable when it returns. [ErrLost] as Renew.
	Save(ctx context.Context, t Tick, token string, saved []byte) error
	// Yield ends the lease, and the token with it. From retryAt on the tick may be taken
	// over; the zero time is now. Message replaces the claim's, and the count of attempts
	// begins again. [ErrLost] as Renew.
	Yield(ctx context.Context, t Tick, token string, retryAt time.Time, message string) error
	// Finish ends the tick, removes what was saved, and sets EndedAt. Repeated with the
	// same token and outcome it is no error. [ErrLost] as Renew.
	Finish(ctx context.Context, t Tick, token string, o Outcome) error
	// Cancel asks the holder of the job's open tick to stop: [Claim.CancelRequested].
	// It returns the tick. [ErrNoJob] where the job has none open.
	Cancel(ctx context.Context, jobName string) (Tick, error)
	// Rewind takes back what a clock that was ahead left of a job: the records of ended ticks
	// whose nominal time is to come are removed, and an open one can be taken over at once.
	// A tick that was run is paid in the ledger, which takes no second payment for it.
	Rewind(ctx context.Context, jobName string) error
	// Ticks returns records of ticks, latest nominal time first.
	Ticks(ctx context.Context, q TickQuery) ([]Claim, error)
}

// Tick is a time at which a job is due.
type Tick struct {
	JobName     string    `json:"jobName"`
	NominalTime time.Time `json:"nominalTime"` // UTC, whole milliseconds
}

// Holder is who claims.
type Holder struct {
	Instance string // for people: host name and process id
	Token    string // random, new for each claim: the fencing token
}

// A Status of a tick or a run. Those of a job are [JobStatus].
type Status string

// Statuses of a tick. RUNNING is open; all others have ended.
const (
	Running          Status = "RUNNING"            // claimed: somebody is at it, or must take it over
	Finished         Status = "FINISHED"           // its release is written
	Failed           Status = "FAILED"             // an error ended it
	Canceled         Status = "CANCELED"           // somebody asked for its end
	WaitingForBudget Status = "WAITING_FOR_BUDGET" // its budget refused it; nothing was spent
	OverBudget       Status = "OVER_BUDGET"        // it costs more than its whole cap; nothing was spent, and no waiting helps
)

// Statuses of a [Write] beside RUNNING, FINISHED and CANCELED.
const (
	Reserved Status = "RESERVED" // nothing is written; its budget is about to be spent, or is
	Undone   Status = "UNDONE"   // the values were removed; what was spent stays spent
)

// Statuses are those that a run may have.
func Statuses() []Status {
	return []Status{Running, Finished, Failed, Canceled, WaitingForBudget, OverBudget}
}

// Claim is the record of a tick, (:GraphCloakTick) in Neo4j.
type Claim struct {
	Tick
	Instance        string    `json:"instance"`
	Token           string    `json:"-"`                   // attemptToken
	Attempts        int64     `json:"attempts"`            // since it was first begun, or left in order by [Claims.Yield]
	ClaimedAt       time.Time `json:"claimedAt"`           // first
	LeaseUntil      time.Time `json:"leaseUntil,omitzero"` // zero: no lease runs
	RetryAt         time.Time `json:"retryAt,omitzero"`    // nobody takes it over before
	CancelRequested bool      `json:"cancelRequested,omitempty"`
	Saved           []byte    `json:"-"` // savedRun; only from Claim
	EndedAt         time.Time `json:"endedAt,omitzero"`
	Outcome
}

// Open reports whether the tick has not ended.
func (c Claim) Open() bool { return c.Status == Running }

// Outcome is how a tick ended; of an open one, its status and message.
type Outcome struct {
	Status   Status    `json:"status"`
	RunID    string    `json:"runId,omitempty"`   // "" where no run began
	ExitCode int64     `json:"exitCode"`          // that the same run of the command would have
	Message  string    `json:"message,omitempty"` // one line for people, without secrets
	RenewsAt time.Time `json:"renewsAt,omitzero"` // WAITING_FOR_BUDGET: when a window frees enough; zero: never by itself
}

// TickQuery selects records of ticks.
type TickQuery struct {
	JobName string // "": of every job
	Open    bool   // only open ones
	Ended   bool   // only those that have ended
	Status  Status // only those of it; "": all
	Latest  bool   // of these only the one of the latest nominal time of each job; with Open the latest of all, if it is open
	Limit   int    // 0: all
}

// Board keeps of each job what outlasts a server: (:GraphCloakJob) nodes in Neo4j.
type Board interface {
	// Standings returns what is kept of the jobs with these names.
	Standings(ctx context.Context, names []string) (map[string]Standing, error)
	// Enlist begins to keep a job, scheduled since now; one that is kept stays as it is.
	Enlist(ctx context.Context, jobName string) error
	// SetPaused pauses a job, or schedules it since now.
	SetPaused(ctx context.Context, jobName string, paused bool) error
}

// Standing is what is kept of a job.
type Standing struct {
	Paused bool
	Since  time.Time // ticks before it are not missed
}

// JobStatus is what a job is doing.
type JobStatus string

// Statuses of a job, beside the [Status] of its last tick.
const (
	Pending JobStatus = "PENDING" // it waits for its first tick
	Paused  JobStatus = "PAUSED"
	Invalid JobStatus = "INVALID" // it cannot run as it is; the message says why
)

// History keeps every run, (:GraphCloakRun) in Neo4j, of jobs and of the command, in
// every mode.
type History interface {
	// PutRun creates or replaces what is known of a run, but for its [Run.Write], which is the
	// store's own.
	PutRun(ctx context.Context, r Run) error
	// ListRuns returns runs without their reports, latest start first.
	ListRuns(ctx context.Context, q RunQuery) ([]Run, error)
	// GetRun returns a run with its report. [ErrNoJob] where there is none.
	GetRun(ctx context.Context, runID string) (Run, error)
	// PruneRuns removes runs that ended before a time, with their reports and
	// their values on nodes, and the records of ended ticks of before it. It returns the
	// number of runs. It keeps the newest tick of every job, unfinished runs, and every
	// entry of the ledger. What was removed before an error stays removed.
	PruneRuns(ctx context.Context, before time.Time) (int64, error)
}

// Run is what a store knows of a run, of a job or of the command.
type Run struct {
	RunID          string    `json:"runId"`
	JobName        string    `json:"jobName,omitempty"`
	NominalTime    time.Time `json:"nominalTime,omitzero"`
	Status         Status    `json:"status"`
	Mode           string    `json:"mode"`                     // write, stats, stream
	Signal         string    `json:"signalProperty,omitempty"` // the private property that it releases
	BudgetScope    string    `json:"budgetScope,omitempty"`
	ReleaseID      string    `json:"releaseId,omitempty"`
	StartedAt      time.Time `json:"startedAt"`
	EndedAt        time.Time `json:"endedAt,omitzero"`
	DurationMillis int64     `json:"durationMillis"` // > 0 once somebody has put how it ended; see [Run.Put]
	Spent          bool      `json:"spent"`          // its release is in the ledger
	EpsilonSpent   float64   `json:"epsilonSpent"`
	DeltaSpent     float64   `json:"deltaSpent"`
	Answer         string    `json:"answer,omitempty"` // name or number of the likeliest community
	Probability    float64   `json:"probability"`      // of the answer, in [0, 1]
	// what the answer is worth: named, perhaps, undecided, misfit or no sign of a source
	Verdict       string `json:"verdict,omitempty"`
	FaultySensors int64  `json:"faultySensorCount,omitempty"` // more likely faulty than sound
	BPDNStatus    string `json:"bpdnStatus,omitempty"`
	ExitCode      int64  `json:"exitCode"`
	Message       string `json:"message,omitempty"`
	Report        []byte `json:"-"` // report.Report as JSON; nil where there is none, and from ListRuns
	Write         *Write `json:"-"` // nil: it writes nothing
}

// Put reports whether the run was put by [History.PutRun]. Else all that is known of it is from its table.
func (r Run) Put() bool { return r.DurationMillis > 0 }

// Dated is the run that has taken so long until now, by the store's clock, in whole seconds: a part of it was spent on private values,
// and no more is recorded of that.
func (r Run) Dated(now time.Time, took time.Duration) Run {
	whole := max(time.Second, (took + time.Second - 1).Truncate(time.Second))
	r.StartedAt, r.DurationMillis = now.UTC().Add(-took).Truncate(time.Second), whole.Milliseconds()
	if r.Status != Running {
		r.EndedAt = r.StartedAt.Add(whole)
	}
	return r
}

// Write is what a store locks of a run, and has written.
type Write struct {
	Status      Status   `json:"status"`        // RESERVED, RUNNING, then FINISHED or UNDONE; or RESERVED and CANCELED
	RunIDColumn string   `json:"runIdProperty"` // property that holds the run's id on each node
	Columns     []string `json:"properties"`    // every property that it writes, RunIDColumn too
	Table       string   `json:"tableDigest"`   // of what it writes; "" for an outline
	Graph       string   `json:"graphDigest"`   // of the graph, hexadecimal
	Nodes       int64    `json:"nodesWritten"`  // nodes that carry its values
}

// WriteStatus is how far the write of the run has come, "" where it writes nothing.
func (r Run) WriteStatus() Status {
	if r.Write == nil {
		return ""
	}
	return r.Write.Status
}

// Writing reports whether the write of the run has begun, or is about to, and has not come to an end.
func (r Run) Writing() bool { return r.WriteStatus() == Reserved || r.WriteStatus() == Running }

// Settled is the run whose write is at another status, with values on so many nodes.
func (r Run) Settled(status Status, nodes int64) Run {
	w := *r.Write
	w.Status, w.Nodes = status, nodes
	r.Write = &w
	return r
}

// RunQuery selects runs.
type RunQuery struct {
	JobName string    // "": of every job and of the command
	Status  Status    // "": all
	Since   time.Time // started at or after; zero: all
	Limit   int       // 0: all
}
