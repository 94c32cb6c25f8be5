// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/config"
	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/internal/disk"
	"github.com/graphcloak/graphcloak/internal/strictjson"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// staged is an unfinished run on disk: its attempt, or its release once that was drawn,
// with what is needed to resume it. It holds public settings and values with noise only.
// The process that runs it holds a lock beside the file.
type staged struct {
	Store         string                  `json:"store"`    // as it was named
	Ledger        privacy.Identity        `json:"ledger"`   // of that store, however it is named
	Identity      string                  `json:"identity"` // of the command, see identify
	Attempt       *run.Attempt            `json:"attempt,omitempty"`
	Release       *graphcloak.Release     `json:"release,omitempty"`
	ReleaseOnly   bool                    `json:"releaseOnly,omitempty"` // nothing is recovered
	Mode          string                  `json:"mode,omitempty"`        // what is told of it
	Signal        graphcloak.Signal       `json:"signal"`
	Write         graphcloak.WriteOptions `json:"write"`
	Recovery      config.Recovery         `json:"recovery"`
	Community     config.Community        `json:"community"`
	Configuration map[string]any          `json:"configuration,omitempty"`
}

// model returns the settings of the model that the run was started with.
func (k *staged) model() *graphcloak.Settings {
	if k.Release != nil {
		return &k.Release.Model
	}
	return &k.Attempt.Plan.Model
}

// graph returns the digest of the graph that the run is of.
func (k *staged) graph() privacy.Digest {
	if k.Release != nil {
		return k.Release.Plan().GraphDigest
	}
	return k.Attempt.Plan.GraphDigest
}

// releaseID is the run's own id, or that of the sensors.
func (k *staged) releaseID() string {
	if k.Release != nil {
		return k.Release.ID()
	}
	return k.Attempt.ReleaseID
}

// isOn reports whether the run was started on a store.
func (k *staged) isOn(ctx context.Context, s graphStore) (bool, error) {
	id, err := s.Ledger().Identity(ctx)
	return k.Ledger.Same(id) || k.Ledger == privacy.Identity{} && k.Store == s.Name(), err
}

// mustBeOn refuses every store but the run's own.
func (k *staged) mustBeOn(ctx context.Context, s graphStore, runID string) error {
	here, err := k.isOn(ctx, s)
	if err != nil || here {
		return err
	}
	return fail(exitConflict, "run %s was started on %s, this is %s", runID, k.Store, s.Name()).
		hint("name that store by --from or --uri; a folder that was moved is known again by its own ledger").about("run", runID)
}

// paid asks the ledger about a run whose process is gone.
func (k *staged) paid(ctx context.Context, l privacy.Ledger) (bool, error) {
	if k.Attempt == nil {
		return true, nil // a release is drawn once it is paid for
	}
	return k.Attempt.Paid(ctx, l)
}

// jobIdentity identifies what a command asks for: commands with the same identity have
// the same graph, signal, plan and recovery, whatever their output.
func jobIdentity(job graphcloak.Job, c *config.Config, digest any) (string, error) {
	data, err := json.Marshal([]any{
		digest, job.Signal, job.Settings, job.Write.Prefix, c.Write.Mode, c.Privacy, c.Escrow, c.Recovery, c.Community,
	})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// journal keeps a run on disk from before it costs anything until its end. room is
// what its result takes on disk.
func (a *app) journal(ctx context.Context, s graphStore, job *graphcloak.Job, room int64, identity string, releaseOnly bool) {
	c := a.config
	kept := staged{
		Store: s.Name(), Identity: identity, ReleaseOnly: releaseOnly, Mode: c.Write.Mode, Signal: job.Signal, Write: job.Write,
		Recovery: c.Recovery, Community: c.Community, Configuration: job.Configuration,
	}
	id := job.RunID
	job.Begin = func(at *run.Attempt) (err error) {
		kept.Attempt = at
		if kept.Ledger, err = s.Ledger().Identity(ctx); err != nil {
			return err
		}
		return a.begin(id, &kept, room)
	}
	job.Stage = func(r *graphcloak.Release) error {
		kept.Attempt, kept.Release = nil, r
		if ledger, err := s.Ledger().Identity(ctx); err == nil { // the first spend has named it
			kept.Ledger = ledger
		}
		saveMemory(r.Plan().NodeCount)
		return writeStaged(id, &kept)
	}
}

// begin makes sure that the run can be kept to its end and its result be written,
// takes the lock, and writes the attempt.
func (a *app) begin(runID string, kept *staged, room int64) error {
	if path := a.outputPath(); path != "" {
		if err := disk.Room(filepath.Dir(path), room); err != nil {
			return fail(exitValidation, "%s cannot be written: %w", path, err).hint("make room, or name another place with -o")
		}
	}
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	if err := a.mayPay(); err != nil {
		return err
	}
	err = a.lockRun(runID)
	if errors.Is(err, disk.ErrLocked) { // what is kept under the id is that process's
		return underWay(runID)
	}
	if err == nil {
		err = writeStaged(runID, kept)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			err = disk.Hold(siblingPath(path, roomFile), stagedSize(info.Size(), len(kept.Attempt.Plan.Sensors)))
		}
	}
	if err != nil {
		return errors.Join(stateError(err), a.forget(runID))
	}
	return nil
}

// underWay refuses a run that another process here is at.
func underWay(runID string) error {
	return fail(exitTransient, "run %s is under way", runID).hint("wait for the end of its process").about("run", runID)
}

// stagedSize bounds the size of a staged release: ids, plan and model are in the
// attempt too, and each of m values has 20 digits of X, 24 of ỹ and a nonce of 32.
func stagedSize(attempt int64, m int) int64 { return 2*attempt + 160*int64(m) + 1<<16 }

// outputSize is what a result takes: a node of a release some 310 bytes of JSON and its
// id, one of a report less, where names of communities are no longer than 100 bytes.
func outputSize(g *graph.Graph) int64 {
	room := int64(1<<16 + 400*g.Order())
	for i := range g.Order() {
		room += 2 * int64(len(g.ID(i)))
	}
	return room
}

// writeStaged writes the attempt, or the release in its place, into the room that is held
// for it.
func writeStaged(runID string, kept *staged) error {
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	data, err := kept.document()
	if err != nil {
		return err
	}
	if err := removeIfExists(siblingPath(path, roomFile)); err != nil {
		return err
	}
	return writeSynced(path, data...)
}

// document is the staged run as JSON. The plan and the release, whose texts may be long,
// are put in as they write themselves.
func (k *staged) document() (strictjson.Pieces, error) {
	bare := *k
	bare.Attempt, bare.Release = nil, nil
	fields, err := membersOf(bare)
	if err != nil {
		return nil, err
	}
	if k.Release != nil {
		if fields["release"], err = k.Release.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	if k.Attempt == nil {
		return strictjson.Object(fields), nil
	}
	attempt, err := attemptDocument(*k.Attempt)
	if err != nil {
		return nil, err
	}
	// "attempt" is before all other names.
	rest := strictjson.Object(fields)
	rest[0] = []byte{','}
	return slices.Concat(strictjson.Pieces{[]byte(`{"attempt":`)}, attempt, rest), nil
}

func attemptDocument(a run.Attempt) (strictjson.Pieces, error) {
	plan, release := a.Plan, a.Release
	a.Plan, a.Release = nil, nil
	fields, err := membersOf(a)
	if err != nil {
		return nil, err
	}
	if fields["plan"], err = plan.MarshalJSON(); err != nil {
		return nil, err
	}
	if release != nil {
		if fields["release"], err = release.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	return strictjson.Object(fields), nil
}

func membersOf(v any) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(data, &fields)
	return fields, err
}

// writeSynced writes a file of mode 0600 that survives a crash of the machine.
func writeSynced(path string, pieces ...[]byte) error {
	return disk.Write(path, disk.Options{Mode: 0o600, Replace: true}, func(w io.Writer) error {
		to := bufio.NewWriter(w) // for the short ones; the long ones go through
		for _, p := range pieces {
			if _, err := to.Write(p); err != nil {
				return err
			}
		}
		return to.Flush()
	})
}

// Files beside a staged one.
const (
	stagedFile = ".json"
	lockFile   = ".lock"
	roomFile   = ".room"
)

func siblingPath(path, ext string) string { return strings.TrimSuffix(path, stagedFile) + ext }

func stagedPath(runID string) (string, error) {
	if !regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`).MatchString(runID) {
		return "", fail(exitUsage, "%q is no run id", runID).hint("a run prints its id as runId")
	}
	dir, err := stateDir("runs")
	return filepath.Join(dir, runID+stagedFile), err
}

// lockRun takes the lock of a run for the rest of the process, and remembers that the
// run is unfinished. It returns [disk.ErrLocked] where another process has it. From here
// on a closed output is an error to report, where SIGPIPE would end the process silently.
func (a *app) lockRun(runID string) error {
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	lock, err := disk.Lock(siblingPath(path, lockFile))
	if err != nil {
		return err
	}
	a.holding.Lock()
	defer a.holding.Unlock()
	a.held, a.lock = runID, lock
	signal.Ignore(syscall.SIGPIPE)
	return nil
}

// drop lets go of a run that stays as it is.
func (a *app) drop() error {
	a.holding.Lock()
	defer a.holding.Unlock()
	if a.lock == nil {
		return nil
	}
	err := a.lock.Close()
	a.held, a.lock = "", nil
	return err
}

// unfinishedRun returns the run that the command has begun and not ended, or "".
func (a *app) unfinishedRun() string {
	a.holding.Lock()
	defer a.holding.Unlock()
	return a.held
}

// forget removes what is kept of a run, the file first: who finds a lock that is free
// finds nothing behind it.
func (a *app) forget(runID string) error {
	path, err := stagedPath(runID)
	if err != nil {
		return err
	}
	return errors.Join(removeIfExists(path), removeIfExists(siblingPath(path, roomFile)), a.drop(),
		removeIfExists(siblingPath(path, lockFile)))
}

// Conditions of a run as this machine knows it.
type runState int

const (
	unknown runState = iota // it was started on another machine, or is finished
	running                 // a process runs it
	stopped                 // it was interrupted
)

// conditionOf looks at the lock of a run.
func conditionOf(runID string) runState {
	path, err := stagedPath(runID)
	if err != nil {
		return unknown
	}
	if _, err := os.Stat(path); err != nil {
		return unknown
	}
	lock, err := disk.Lock(siblingPath(path, lockFile))
	if err != nil {
		return running
	}
	lock.Close()
	return stopped
}

// stagedRuns lists the runs that are kept, oldest first.
func stagedRuns() ([]string, error) {
	dir, err := stateDir("runs")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+stagedFile))
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), stagedFile)
	}
	slices.Sort(files)
	return files, err
}

// readStaged returns what is kept of a run.
func readStaged(runID string) (*staged, error) {
	path, err := stagedPath(runID)
	if err != nil {
		return nil, err
	}
	data, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	var kept staged
	if err := strictjson.Unmarshal(data, &kept); err != nil {
		return nil, fail(exitValidation, "what is kept of run %s cannot be read: %w", runID, err).
			hint("`graphcloak run --undo %s` gives it up", runID).about("run", runID)
	}
	if kept.Release == nil && (kept.Attempt == nil || kept.Attempt.Plan == nil) {
		return nil, fail(exitValidation, "what is kept of run %s holds neither an attempt nor a release", runID).
			hint("`graphcloak run --undo %s` gives it up", runID).about("run", runID)
	}
	return &kept, nil
}

// checkState makes sure of the folder for state before any work is done.
func checkState() (dir string, err error) {
	dir, err = stateDir("runs")
	if err == nil {
		err = disk.Room(dir, 1<<12)
	}
	return dir, stateError(err)
}

// stateError says what to do about a folder for state that cannot be used.
func stateError(err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	return fail(exitValidation, "the folder for what must outlast a crash cannot be used: %w; nothing was spent", err).
		hint("set XDG_STATE_HOME to a folder on a disk with room that the user may write; under systemd, " +
			"StateDirectory=graphcloak makes one")
}

// describeRuns names some runs.
func describeRuns(ids []string) string {
	if len(ids) == 0 {
		return "no run can be resumed here"
	}
	return fmt.Sprintf("what can be resumed here: %s", strings.Join(ids, ", "))
}
