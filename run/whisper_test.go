// SPDX-License-Identifier: Apache-2.0

package run_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphcloak/graphcloak"
	"github.com/graphcloak/graphcloak/connector/folder"
	"github.com/graphcloak/graphcloak/expm/tau"
	"github.com/graphcloak/graphcloak/internal/must"
	"github.com/graphcloak/graphcloak/internal/testkit"
	"github.com/graphcloak/graphcloak/plan"
	"github.com/graphcloak/graphcloak/privacy"
	"github.com/graphcloak/graphcloak/privacy/answer"
	"github.com/graphcloak/graphcloak/report"
	"github.com/graphcloak/graphcloak/run"
)

// whisperJob asks the karate club whether they have heard; node 0 and its nearest have.
func whisperJob(t *testing.T) (*folder.Store, graphcloak.Job) {
	t.Helper()
	s, _ := testkit.Example(t, "karate")
	job := testkit.PaperJob()
	g := must.Get(s.Graph(t.Context(), job.Selection))(t)
	heard := make([]float64, g.Order())
	heard[0] = 1
	for _, i := range g.Neighbors(0) {
		heard[i] = 1
	}
	job.Tau, job.Answers, job.Plan = tau.Range{}, true, graphcloak.PlanOptions{}
	job.Signal = graphcloak.Signal{AnswerProperty: "heard", Values: heard}
	job.Asking = plan.Asking{Rumour: "heard", Epsilon: 3}
	return s, job
}

func spent(t *testing.T, s run.Store) privacy.Account {
	t.Helper()
	return must.Get(privacy.VerifyLedger(t.Context(), s.Ledger(), "property=heard"))(t)
}

// TestWhisper: answers are asked once a round, kept on the nodes and read again at no cost; who is new is asked alone, and a new
// round asks everybody.
func TestWhisper(t *testing.T) {
	s, job := whisperJob(t)
	everybody := job.Signal.Values
	job.Signal.Values = slices.Clone(everybody)
	job.Signal.Values[33] = math.NaN() // is not asked
	first := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if w := first.Whisper; w.Asked != 33 || w.New != 33 || first.EpsilonSpent != 3 || first.Promise.Guarantee != "perPerson" {
		t.Errorf("%+v, ε = %v, %+v", w, first.EpsilonSpent, first.Promise)
	}
	if !strings.Contains(first.Answer, "of 33 people say yes") && !strings.Contains(first.Answer, "No sign") {
		t.Errorf("the answer is %q", first.Answer)
	}
	g := must.Get(s.Graph(t.Context(), job.Selection))(t)
	kept := must.Get(s.Signal(t.Context(), g, "gcAnswer"))(t)
	if !math.IsNaN(kept[33]) {
		t.Errorf("node 33, which was not asked, has the answer %v", kept[33])
	}

	for i := range job.Signal.Values { // whatever the truth has become, the answer of a round stays
		job.Signal.Values[i] = 1 - job.Signal.Values[i]
	}
	again := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if w := again.Whisper; w.Asked != 33 || w.New != 0 || w.Yes != first.Whisper.Yes || again.EpsilonSpent != 0 ||
		spent(t, s).Releases != 1 {
		t.Errorf("%+v, ε = %v, %d releases: want the kept answers, and nothing spent", w, again.EpsilonSpent, spent(t, s).Releases)
	}
	if now := must.Get(s.Signal(t.Context(), g, "gcAnswer"))(t); !slices.Equal(now[:33], kept[:33]) {
		t.Error("kept answers were changed")
	}

	job.Signal.Values = everybody
	fresh := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if w := fresh.Whisper; w.Asked != 34 || w.New != 1 {
		t.Errorf("%+v: want one new answer", w)
	}
	a := spent(t, s)
	if a.Sensors[string(g.ID(33))] != a.Sensors[string(g.ID(0))] || a.Spent.PureEpsilon() != 3 {
		t.Errorf("the account has %v, and %v at most", a.Sensors, a.Spent)
	}
	job.Asking.Epsilon = 2
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, run.ErrRound) {
		t.Errorf("a round at another ε: %v, want %v", err, run.ErrRound)
	}
	job.Asking.Epsilon, job.Asking.Round = 3, 2
	second := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	if w := second.Whisper; w.New != 34 || spent(t, s).Spent.PureEpsilon() != 6 {
		t.Errorf("%+v, ε = %v: want everybody asked again, at 6", w, spent(t, s).Spent.PureEpsilon())
	}
}

// TestWhisperCap: a cap is one of each person's total, and a run over it spends and writes nothing.
func TestWhisperCap(t *testing.T) {
	s, job := whisperJob(t)
	must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t)
	must.Get(privacy.SetCap(t.Context(), s.Ledger(), "property=heard", privacy.Budget{Epsilon: 5, Delta: .1}))(t)
	job.Asking.Round = 2
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, privacy.ErrExhausted) {
		t.Errorf("%v, want %v", err, privacy.ErrExhausted)
	}
	if a := spent(t, s); a.Spent.PureEpsilon() != 3 {
		t.Errorf("ε = %v is spent, want 3", a.Spent.PureEpsilon())
	}
}

// TestWhisperRace: a run that slept while another asked pays for nothing and keeps what the other wrote.
func TestWhisperRace(t *testing.T) {
	s, job := whisperJob(t)
	other := job
	job.PlannedWhisper = func(*plan.Whisper) error {
		_, err := graphcloak.Run(t.Context(), s, other, graphcloak.LoadOptions{})
		return err
	}
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, run.ErrPaidMeanwhile) {
		t.Errorf("%v, want %v", err, run.ErrPaidMeanwhile)
	}
	if a := spent(t, s); a.Releases != 1 || a.Spent.PureEpsilon() != 3 {
		t.Errorf("%d releases, ε = %v: want what the other run spent", a.Releases, a.Spent.PureEpsilon())
	}
	job.PlannedWhisper = nil
	if again := must.Get(graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}))(t); again.Whisper.New != 0 {
		t.Errorf("%+v: want the answers of the other run", again.Whisper)
	}
}

// TestWhisperRefused: what is no yes and no no is counted and not named; a store without any answer has nothing to hide.
func TestWhisperRefused(t *testing.T) {
	s, job := whisperJob(t)
	job.Signal.Values[7], job.Signal.Values[9] = .5, 2
	_, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{})
	if !errors.Is(err, run.ErrBadSignal) || !strings.Contains(err.Error(), "2 nodes") || strings.Contains(err.Error(), ".5") {
		t.Errorf("%v", err)
	}
	job.Signal.Values[7], job.Signal.Values[9] = 0, 0
	job.Recover.FalseAlarm = 2
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); err == nil {
		t.Error("a rate of false alarms of 2 is taken")
	}
	job.Recover.FalseAlarm = 0
	for i := range job.Signal.Values {
		job.Signal.Values[i] = math.NaN()
	}
	if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, run.ErrMissingSignal) {
		t.Errorf("%v, want %v", err, run.ErrMissingSignal)
	}
	if scopes := must.Get(s.Ledger().Scopes(t.Context()))(t); len(scopes) > 0 {
		t.Errorf("%q was spent from", scopes)
	}
}

// TestWhisperResumes: a run that dies before or after its coins were tossed is completed at no further cost.
func TestWhisperResumes(t *testing.T) {
	for _, drawn := range []bool{false, true} {
		s, job := whisperJob(t)
		folder, died := run.Folder(t.TempDir()), errors.New("died")
		job.RunID = "run-1"
		held := must.Get(folder.Take(job.RunID))(t)
		job.Keep = func(k *run.Kept) error {
			if k.Attempt == nil {
				if drawn {
					return errors.Join(held.Keep(k), died)
				}
				return died
			}
			return held.Keep(k)
		}
		if _, err := graphcloak.Run(t.Context(), s, job, graphcloak.LoadOptions{}); !errors.Is(err, died) {
			t.Fatalf("%v, want %v", err, died)
		}
		k := must.Get(folder.Read(job.RunID))(t)
		if (k.Answers != nil) != drawn {
			t.Fatalf("kept %+v", k)
		}
		packed := must.Get(k.Pack())(t)
		k = must.Get(run.Unpack(packed))(t)
		job.Keep = held.Keep
		m := must.Get(run.Load(t.Context(), s, *k.Settings(), graphcloak.LoadOptions{}))(t)
		rep, err := m.Resume(t.Context(), k, job)
		if err != nil || rep.Whisper.New != 34 || spent(t, s).Releases != 1 {
			t.Fatalf("%+v, %v, %+v", rep, err, spent(t, s))
		}
		if _, written := run.Payments(must.Get(s.Ledger().Entries(t.Context(), "property=heard"))(t)).Find(privacy.KindWritten); !written {
			t.Error("the release is not marked as written")
		}
	}
}

// TestWhisperFiles: plan and release say what they are, and a changed one is refused.
func TestWhisperFiles(t *testing.T) {
	s, job := whisperJob(t)
	m := must.Get(run.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	p := must.Get(m.PlanWhisper(t.Context(), job.Asking, []int{0, 1, 2}, nil))(t)
	testkit.RoundTrip(t, p, new(plan.Whisper))
	drawn := must.Get(p.Answer([]bool{true, false, true}, "r-1", nil))(t)
	r := &run.AnswerRelease{Release: drawn, Plan: p, Signal: graphcloak.Signal{AnswerProperty: "heard"}}
	testkit.RoundTrip(t, r, new(run.AnswerRelease))
	text := string(must.Get(r.MarshalJSON())(t))
	for from, to := range map[string]string{
		`"epsilon":3`: `"epsilon":4`, `"round":1`: `"round":2`, `"heard"`: `"other"`, `"exponent":`: `"exponent":0`,
	} {
		changed := strings.Replace(text, from, to, 1)
		if changed == text || new(run.AnswerRelease).UnmarshalJSON([]byte(changed)) == nil {
			t.Errorf("a file with %s in the place of %s is read", to, from)
		}
	}
	other := *p
	other.Plan = &answer.Plan{Question: p.Question, People: p.People}
	if _, err := m.Locate(t.Context(), &other, answer.Kept{}, job.Recover); !errors.Is(err, plan.ErrGraphChanged) {
		t.Errorf("%v, want %v", err, plan.ErrGraphChanged)
	}
	if got := report.AnswerNames("x"); got.Answer != "xAnswer" {
		t.Errorf("%+v", got)
	}
}

// TestReleaseAnswers: a plan is paid for once and its answers stand on the nodes, where they are not asked for again; a release that
// died before its coins were tossed is completed at no further cost, and a look at it costs nothing.
func TestReleaseAnswers(t *testing.T) {
	s, job := whisperJob(t)
	m := must.Get(run.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	p := must.Get(m.PlanWhisper(t.Context(), job.Asking, m.Sensors, nil))(t)
	heard := job.Signal.Values
	job.Signal.Values = slices.Clone(heard)
	job.Signal.Values[3], job.Signal.Values[5] = math.NaN(), math.NaN()
	_, err := m.ReleaseAnswers(t.Context(), p, nil, job)
	if !errors.Is(err, run.ErrBadSignal) || !strings.Contains(err.Error(), "2 nodes") {
		t.Errorf("two people without a truth: %v", err)
	}
	job.Signal.Values = heard
	dry := job
	dry.DryRun = true
	r, err := m.ReleaseAnswers(t.Context(), p, nil, dry)
	if scopes := must.Get(s.Ledger().Scopes(t.Context()))(t); r != nil || err != nil || len(scopes) > 0 {
		t.Errorf("a dry run: %v, %v, scopes %q", r, err, scopes)
	}

	folder, died := run.Folder(t.TempDir()), errors.New("died")
	job.RunID = "run-1"
	held := must.Get(folder.Take(job.RunID))(t)
	job.Keep = func(k *run.Kept) error {
		if k.Attempt == nil {
			return died
		}
		return held.Keep(k)
	}
	if _, err := m.ReleaseAnswers(t.Context(), p, nil, job); !errors.Is(err, died) {
		t.Fatalf("%v, want %v", err, died)
	}
	k, again := must.Get(folder.Read(job.RunID))(t), job
	again.Keep = nil
	if rep, err := m.Resume(t.Context(), k, again); rep != nil || err != nil {
		t.Fatalf("resumed to %v, %v", rep, err)
	}
	kept := must.Get(s.Signal(t.Context(), m.Graph, "gcAnswer"))(t)
	for i, a := range k.Answers.Answers() {
		if yes := kept[i] == 1; yes != a.Yes {
			t.Errorf("node %d keeps %v, the release has %v", i, kept[i], a.Yes)
		}
	}
	if _, err := s.Signal(t.Context(), m.Graph, "gcSourceProbability"); err == nil {
		t.Error("a release says where the rumour began")
	}
	if _, err := m.ReleaseAnswers(t.Context(), p, nil, again); !errors.Is(err, run.ErrAnswered) {
		t.Errorf("a second release of the round: %v, want %v", err, run.ErrAnswered)
	}
	look := again
	look.RunID, look.Write.Enabled = "look", false
	rep := must.Get(m.CompleteAnswers(t.Context(), k.Answers, look))(t)
	if rep.EpsilonSpent != 0 || rep.Whisper.Asked != 34 || rep.Whisper.New != 0 || spent(t, s).Releases != 1 {
		t.Errorf("a look: ε = %v, %+v, %d releases", rep.EpsilonSpent, rep.Whisper, spent(t, s).Releases)
	}
}

// TestSentAnswers: answers that people drew are released without a truth in the store, and everybody who was asked has paid.
func TestSentAnswers(t *testing.T) {
	s, job := whisperJob(t)
	m := must.Get(run.Load(t.Context(), s, job.Settings, graphcloak.LoadOptions{}))(t)
	p := must.Get(m.PlanWhisper(t.Context(), job.Asking, m.Sensors, nil))(t)
	var sent []answer.Value
	for _, k := range must.Get(p.Packages("monday", 3, "", 0))(t)[:20] {
		sent = append(sent, must.Get(k.Draw(true, nil))(t))
	}
	job.Signal, job.RunID = graphcloak.Signal{AnswerProperty: "heard"}, "run-1"
	for range 2 { // the same answers are paid for once
		job.Write.Enabled = false
		must.Get(m.ReleaseAnswers(t.Context(), p, sent, job))(t)
	}
	job.Write.Enabled = true
	r := must.Get(m.ReleaseAnswers(t.Context(), p, sent, job))(t)
	must.Get(m.PublishAnswers(t.Context(), r, job))(t)
	a := spent(t, s)
	if a.Releases != 1 || len(a.Sensors) != 34 || a.Spent.PureEpsilon() != 3 {
		t.Errorf("%d releases, %d people, ε = %v: want 1, 34 and 3", a.Releases, len(a.Sensors), a.Spent.PureEpsilon())
	}
	kept := must.Get(s.Signal(t.Context(), m.Graph, "gcAnswer"))(t)
	if math.IsNaN(kept[19]) || !math.IsNaN(kept[20]) {
		t.Errorf("nodes 19 and 20 keep %v and %v, want an answer and none", kept[19], kept[20])
	}
	if _, err := m.ReleaseAnswers(t.Context(), p, append(sent, sent[0]), job); err == nil {
		t.Error("somebody answers twice")
	}
}
