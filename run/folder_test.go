// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/run"
)

// TestResumeFromAFolder: a program whose run dies, before or after its noise was drawn, completes it from a folder at no
// further cost. While a process holds it no other does, and once it is complete nothing of it is kept.
func TestResumeFromAFolder(t *testing.T) {
	for _, drawn := range []bool{false, true} {
		s, _ := testkit.Example(t, "karate")
		job, folder, died := testkit.PaperJob(), run.Folder(t.TempDir()), errors.New("died")
		job.RunID = "run-1"
		held := must.Get(folder.Take(job.RunID))(t)
		job.Keep = func(k *run.Kept) error {
			switch {
			case k.Attempt != nil:
				return held.Keep(k)
			case drawn:
				return errors.Join(held.Keep(k), died)
			}
			return died
		}
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, died) {
			t.Fatalf("%v, want %v", err, died)
		}
		if _, _, err := folder.Resume(job.RunID); !errors.Is(err, run.ErrUnderWay) || folder.State(job.RunID) != run.Running {
			t.Errorf("beside its process: %v", err)
		}
		if err := held.Close(); err != nil { // as the end of the process does
			t.Fatal(err)
		}
		held, k, err := folder.Resume(job.RunID)
		if err != nil || (k.Release != nil) != drawn {
			t.Fatalf("%+v, %v", k, err)
		}
		job.Keep = held.Keep
		m := must.Get(run.Load(t.Context(), s, *k.Settings(), graphcloak.LoadOptions{}))(t)
		rep, err := m.Resume(t.Context(), k, job)
		if err != nil || rep.RunID != job.RunID {
			t.Fatal(err)
		}
		account, err := privacy.VerifyLedger(t.Context(), s.Ledger(), rep.BudgetScope)
		if err != nil || account.Releases != 1 {
			t.Errorf("%+v, %v: want one release", account, err)
		}
		if err := held.Forget(); err != nil || folder.State(job.RunID) != run.Unknown {
			t.Error(err)
		}
		if left, err := folder.Runs(); err != nil || len(left) > 0 {
			t.Errorf("%q is still kept, %v", left, err)
		}
	}
}
