// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/graphcloak/graphcloak/graph"
	"github.com/graphcloak/graphcloak/privacy"
)

// Report is the result of a run. Counts and times carry the names of the result
// columns of GDS.
type Report struct {
	RunID     string    `json:"runId"`
	ReleaseID string    `json:"releaseId,omitempty"`      // of the private measurement; "" where it came from elsewhere
	Signal    string    `json:"signalProperty,omitempty"` // name of the private property that was released
	Version   string    `json:"version"`
	Store     string    `json:"store"`
	StartedAt time.Time `json:"startedAt"` // rounded up to a whole second: private values are read soon after

	Answer    string `json:"answer"`    // the sentence
	Guarantee string `json:"guarantee"` // who is protected, at which ε and δ
	// Promise is what ε and δ are of; nil: nothing is known of the release.
	Promise      *privacy.Promise `json:"promise,omitempty"`
	NotProtected []string         `json:"notProtected"` // what is public all the same
	Notes        []string         `json:"notes,omitempty"`

	Communities []Community `json:"communities"`             // likeliest first
	Prior       string      `json:"priorProperty,omitempty"` // node property that the prior is proportional to; "": flat
	Posterior   Posterior   `json:"posterior"`
	Presence    *Presence   `json:"presence,omitempty"` // whether there is a source at all
	Whisper     *Whisper    `json:"whisper,omitempty"`  // what answers of yes or no say; nil: the run is one of heat
	Fit         *Fit        `json:"fit,omitempty"`      // whether the model explains the measurements
	Sources     *Sources    `json:"sources,omitempty"`  // where more than one source may be supposed
	// TauPosterior is the posterior of τ, where only a range of τ is given.
	TauPosterior []TauProbability `json:"tauPosterior,omitempty"`
	// GraphPosterior is the posterior of the graph, the stored one first, where others are listed.
	GraphPosterior []GraphProbability `json:"graphPosterior,omitempty"`
	BPDN           BPDN               `json:"bpdn,omitzero"`
	// SensorFaultRate is the prior probability of a sensor to be broken that the posterior supposes, SensorFaultyPrior that to
	// be faulty, which is broken or shifted, and SuspectSensors those that it holds to be faulty with probability
	// .25 and more, likeliest first. FaultySensorCount is the number of those that are more likely faulty than sound, and
	// FaultySensorsApart the p-value of independent faults, by how many of those are neighbours; 0: unknown.
	SensorFaultRate    float64   `json:"sensorFaultRate,omitempty"`
	SensorFaultyPrior  float64   `json:"sensorFaultyPrior,omitempty"`
	SuspectSensors     []Suspect `json:"suspectSensors,omitempty"`
	FaultySensorCount  int       `json:"faultySensorCount,omitempty"`
	FaultySensorsApart float64   `json:"faultySensorsApart,omitempty"`
	Ceiling            float64   `json:"ceiling,omitempty"` // bound on telling two neighbours apart; 0.5 is chance

	NodeCount         int `json:"nodeCount"`
	RelationshipCount int `json:"relationshipCount"`
	ComponentCount    int `json:"componentCount"`
	SensorCount       int `json:"sensorCount"` // that report

	Tau          float64 `json:"tau,omitzero"`
	Laplacian    string  `json:"laplacian,omitzero"`
	KernelMethod string  `json:"kernelMethod,omitzero"`
	// Operator is the name of a given operator in place of e^{-τL}, and OperatorDigest its digest.
	Operator       string         `json:"operator,omitzero"`
	OperatorDigest privacy.Digest `json:"operatorDigest,omitzero"`
	Metric         string         `json:"metric,omitzero"`
	Epsilon        float64        `json:"epsilon"`
	Delta          float64        `json:"delta"`
	Alpha          float64        `json:"alpha,omitzero"`
	Calibration    string         `json:"calibration,omitzero"`
	Allocation     string         `json:"allocation,omitzero"`
	Randomness     string         `json:"randomness"`
	EpsilonSpent   float64        `json:"epsilonSpent"` // 0 where this run released nothing
	DeltaSpent     float64        `json:"deltaSpent"`
	BudgetScope    string         `json:"budgetScope,omitempty"` // that paid for the release
	LedgerHead     string         `json:"ledgerHead,omitempty"`  // hash of the entry that paid: for `budget verify --contains`
	Noise

	Sensitivity Sensitivity `json:"sensitivity,omitzero"`

	CommunityCount int     `json:"communityCount"`
	Modularity     float64 `json:"modularity"`

	Millis
	NodePropertiesWritten int64          `json:"nodePropertiesWritten"`
	Configuration         map[string]any `json:"configuration,omitempty"`

	// NodeValues is in the history only, see [Report.Keep].
	NodeValues *NodeValues `json:"nodeValues,omitempty"`

	nodes Nodes
}

// Community is one row of the ranking.
type Community struct {
	CommunityID int     `json:"communityId"`
	Name        string  `json:"name"`
	Size        int     `json:"size"`
	Prior       float64 `json:"priorProbability"` // before the measurements
	Probability float64 `json:"probability"`      // posterior probability that there is a source and it is here, or at least one
	SourceMass  float64 `json:"sourceMass"`       // sum of f̂ over its nodes
}

// Posterior is the likeliest node and how much is known of it. The odds are
// natural logarithms.
type Posterior struct {
	NodeID          graph.ID `json:"nodeId"`
	Probability     float64  `json:"probability"`
	CredibleSetSize int      `json:"credibleSetSize"` // nodes that hold 95 %: the cloaking achieved
	// KnownMassSetSize is the same to a reader who knows that the mass is 1: total mass is
	// not protected. 0: there are several sources.
	KnownMassSetSize int      `json:"credibleSetSizeKnownMass,omitempty"`
	LogRunnerUp      *float64 `json:"logOddsRunnerUp,omitempty"`
	LogPresence      float64  `json:"logOddsNoSource"` // one source against none
	// Error bounds, of both log-odds and of every probability, where column norms are only
	// bounded: 0 up to 10,000 nodes, for there they are exact.
	LogOddsError     float64 `json:"logOddsError,omitempty"`
	ProbabilityError float64 `json:"probabilityError,omitempty"`
}

// Suspect is a sensor that may be faulty: broken or shifted, with the posterior probability that it is.
type Suspect struct {
	NodeID      graph.ID `json:"nodeId"`
	Probability float64  `json:"probability"`
}

// TauProbability is the posterior probability of one value of τ, on a grid that is even in
// log τ over the given range, supposing one source.
type TauProbability struct {
	Tau         float64 `json:"tau"`
	Probability float64 `json:"probability"`
}

// GraphProbability is the posterior probability that the process ran on one of several public graphs, which
// are as likely beforehand, supposing one source.
type GraphProbability struct {
	Name        string  `json:"name,omitempty"` // printable; "": the stored graph
	Probability float64 `json:"probability"`
}

// Label is the name in quotes, or what is said of the stored graph.
func (g GraphProbability) Label() string {
	if g.Name == "" {
		return "the stored graph"
	}
	return strconv.Quote(g.Name)
}

// Sources says how many sources the posterior supposes. For two
// the probabilities of nodes and communities are those of holding at least one
// of them; a credible set holds 95 % of those expected.
type Sources struct {
	Count     int        `json:"count"`
	NodeIDs   []graph.ID `json:"nodeIds,omitempty"`       // the likeliest nodes, as many as sources
	LogSecond *float64   `json:"logOddsSecond,omitempty"` // two sources against one, where that was weighed
}

// BPDN is the outcome of Basis Pursuit Denoising with its certificate. Radius,
// Residual and Margin are in units of ỹ where every sensor has the same σ, else in
// units of the noise; with the rule normal they are those of Mᵀ(Mf − ỹ).
type BPDN struct {
	Status     string   `json:"status"` // optimal, zero, infeasible or stalled
	Objective  float64  `json:"objective"`
	LowerBound float64  `json:"lowerBound"`
	Gap        *float64 `json:"gap,omitempty"` // absent where no f̂ fits
	Margin     float64  `json:"margin,omitempty"`
	Residual   float64  `json:"residual"`
	Radius     float64  `json:"radius"`
	RadiusRule string   `json:"radiusRule"`
	Dimension  int      `json:"dimension"`         // directions that the residual is measured in
	Retried    bool     `json:"retried,omitempty"` // a smaller radius was proved infeasible
	Support    []Source `json:"support"`
}

// Source is one entry of f̂ above zero.
type Source struct {
	NodeID graph.ID `json:"nodeId"`
	Value  float64  `json:"value"`
}

// Finite returns a pointer to x, nil where JSON has no number for it.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Noise is the σ of the reporting sensors, with the same JSON keys in a plan, a dry run,
// a report and an evaluation.
type Noise struct {
	Sigma    float64 `json:"sigma,omitempty"` // of every sensor; absent where they differ
	SigmaMin float64 `json:"sigmaMin,omitzero"`
	SigmaMax float64 `json:"sigmaMax,omitzero"`
	// the σ of uniform noise with the same guarantee, for comparison, where noise is allocated per sensor
	UniformSigma float64 `json:"uniformSigma,omitempty"`
}

// NewNoise describes the noise of sensors, at least one; uniform is 0 where it was not
// allocated.
func NewNoise(sigmas []float64, uniform float64) Noise {
	n := Noise{SigmaMin: slices.Min(sigmas), SigmaMax: slices.Max(sigmas), UniformSigma: uniform}
	if n.SigmaMin == n.SigmaMax {
		n.Sigma = n.SigmaMin
	}
	return n
}

// Sensitivity is the certified bracket of Δ₂ and an edge that attains its lower end.
type Sensitivity struct {
	Lower float64     `json:"lower"`
	Upper float64     `json:"upper"`
	Edge  [2]graph.ID `json:"edge"`
}

// Millis are wall-clock times. Where a step did not run it is 0.
type Millis struct {
	ReadMillis           int64 `json:"readMillis"`
	ProjectMillis        int64 `json:"projectMillis"`
	PreProcessingMillis  int64 `json:"preProcessingMillis"`
	PrivacyMillis        int64 `json:"privacyMillis"` // rounded up to whole seconds: it is time spent on private values
	RecoveryMillis       int64 `json:"recoveryMillis"`
	ComputeMillis        int64 `json:"computeMillis"`
	PostProcessingMillis int64 `json:"postProcessingMillis"`
	WriteMillis          int64 `json:"writeMillis"`
}

// Nodes are the values of every node, in node order.
type Nodes struct {
	Graph *graph.Graph
	NodeValues
	PrivateHeat []float64 // one per sensor
	Captions    []string  // what a reader calls each; nil: nothing but its id
}

// NodeValues are what a map shows of every node, in node order. A report in the history keeps them: the properties of the nodes
// are replaced by the next run.
type NodeValues struct {
	Source      []float64 `json:"source"` // f̂
	Probability []float64 `json:"sourceProbability"`
	Community   []int     `json:"communityId"`
	Sensors     []int     `json:"sensors"`             // nodes with a private measurement, ascending
	Sigma       []float64 `json:"sigma"`               // of its noise, one per sensor
	Answering   []int     `json:"answering,omitempty"` // nodes of people with a published answer, ascending
	Yes         []bool    `json:"yes,omitempty"`       // what each of them answers
}

// SetPayment names the entry of the ledger that paid for the release.
func (r *Report) SetPayment(e privacy.Entry) { r.BudgetScope, r.LedgerHead = e.Scope, e.Hash.String() }

// SetNodes attaches the values of the nodes.
func (r *Report) SetNodes(n Nodes) { r.nodes = n }

// Nodes returns what [Report.SetNodes] attached.
func (r *Report) Nodes() Nodes { return r.nodes }

// EachSensor reports whether the guarantee is known to be of the value of any single sensor, and
// not of all values together.
func (r *Report) EachSensor() bool { return r.Promise != nil && r.Promise.PerSensor() }

// Conditional reports whether the guarantee holds on a condition on the process that sensors
// measure.
func (r *Report) Conditional() bool { return r.Promise != nil && r.Promise.Condition != "" }

// Qualification says in short what a guarantee does not promise that ε and δ alone seem to; "":
// they say all.
func (r *Report) Qualification() string {
	if r.Promise == nil {
		return ""
	}
	return r.Promise.Qualified()
}

// Exposed says what no noise hides, for a graph of this many components.
func Exposed(components int) []string {
	s := []string{
		"the graph, τ and every parameter of the run",
		"that there is a source at all, and the total mass of the sources",
		"what several releases of the same data say together: each one spends budget",
		"sources further apart than neighbours, at this strength: at k times the distance μ is k times as large, and ε grows faster",
	}
	if components > 1 {
		s = append(s, fmt.Sprintf("the component of a source: the graph has %d components, and no source is a neighbour of one in another",
			components))
	}
	return s
}

// ExposedBy says what a plan does not protect: what no noise hides, and what its own
// promise leaves out.
func ExposedBy(p *privacy.Plan) []string {
	s := Exposed(p.ComponentCount)
	if p.Given() {
		s[0] = "the graph, the given operator and every parameter of the run"
	}
	if p.Guarantee == privacy.PerSensor {
		s = append(s, "what the values of several sensors say together: the promise is of each sensor alone")
	}
	if p.Measured() {
		s = append(s, "a source whose process is not the model, or not within what was declared of it: ε is another there, and can "+
			"be much larger")
	}
	return s
}
