// SPDX-License-Identifier: Apache-2.0

package config

import "github.com/graphcloak/graphcloak/expm/tau"

// Config holds every setting, checked. It does not change after [Load].
// A nil pointer is a number that was not given.
type Config struct {
	Connection Connection
	From       From
	Projection Projection
	Diffusion  Diffusion
	Sensors    Sensors
	Signal     Signal
	Privacy    Privacy
	Escrow     Escrow
	Recovery   Recovery
	Community  Community
	Server     Server
	Report     Report
	Output     Output
	Write      Write
	Execution  Execution
	Schedule   Schedule
	Terminal   Terminal

	// Jobs of the configuration file, unchecked.
	Jobs []map[string]any

	ownFile  bool // the file of settings lies at the user's own place
	origins  map[string]Origin
	raw      map[string]any
	warnings []string
}

// Connection says how to reach Neo4j.
type Connection struct {
	URI          string `key:"neo4jUri"`
	Username     string `key:"neo4jUsername"`
	Password     Secret `key:"neo4jPassword"` // from a flag, the environment or a .env file
	PasswordFile string // "-": standard input
	Database     string `key:"neo4jDatabase"` // "": the user's home database
}

// Projection says which part of the store becomes the graph.
type Projection struct {
	NodeLabels                 []string // none: all
	RelationshipTypes          []string // none: all
	Operator                   []string // files, or relationships:TYPE; empty: e^{-τL}
	NodeQuery                  string
	RelationshipQuery          string
	NodeKey                    string
	RelationshipWeightProperty string
	Aggregation                string
	Isolated                   string // refuse | drop | allow
}

// Diffusion describes e^{-τL}.
type Diffusion struct {
	Tau       tau.Range
	Laplacian string
}

// Sensors says which nodes carry sensors; all, where it is empty.
type Sensors struct {
	Property string `key:"sensorProperty"`
}

// Signal names what the sensors see, or what people are asked. At most one property is set.
type Signal struct {
	SourceProperty      string
	MeasurementProperty string
	AnswerProperty      string

	// Of answers alone.
	Round float64 // whole, from 1
	Reach float64 // whole; 0: unknown
}

// Privacy holds the guarantee that is asked for and how it is reached.
type Privacy struct {
	Epsilon       float64
	Delta         float64
	Alpha         float64
	Metric        string // hops, or the property that holds a relationship's length
	Allocation    string
	Guarantee     string
	SpendAtChance bool   // spend although simulation finds no answer
	Clip          Clip   // of a reading; zero: the range that the diffusion can reach
	Scenario      string // file of alternative graphs; "": none
}

// Escrow names the secret that noise is derived from, where it is.
type Escrow struct {
	KeyFile    string
	Deployment Deployment // zero: noise is the system's
}

// Recovery holds the choices of the analyst's side.
type Recovery struct {
	PriorProperty string   // "": flat
	Sources       string   // auto: one, or two by evidence | 1 | 2
	FalseAlarm    float64  // in (0, 1]
	FaultRate     *float64 `key:"sensorFaultRate"` // nil: 0.01 for a release of measured readings, else 0
}

// Community says where communities come from.
type Community struct {
	Property string   `key:"communityProperty"` // "": detect
	Gamma    *float64 // nil: 1
}

// Server says where `serve` listens, and whose jobs it runs.
type Server struct {
	Listen         string // HOST:PORT
	TokenFile      string // "": none
	TLSCertificate string `key:"tlsCertificate"` // file; "": none; "none": none on purpose
}

// Schedule is what a run that a scheduler starts needs beside what it computes.
type Schedule struct {
	OncePer Span // 0: as often as it is asked for
}

// Report says what a run shows to people.
type Report struct {
	File    string `key:"report"`      // "": none
	Caption string `key:"nodeCaption"` // node property; "": the ids
}

// Output says how and where a result is printed.
type Output struct {
	Format string // "": table on a terminal, else json
	File   string `key:"output"` // "" or "-": standard output
	Force  bool
}

// Write says what becomes of a result in the store.
type Write struct {
	Mode           string // stream | stats | write
	PropertyPrefix string
	DryRun         bool
}

// Execution bounds the work.
type Execution struct {
	Sudo   bool // bypasses the memory guard, nothing else
	Strict bool
}

// Terminal says how the command talks.
type Terminal struct {
	Quiet   bool
	Verbose bool
}

// Warnings returns remarks that do not stop the command, such as a misspelt
// GRAPHCLOAK_ variable.
func (c *Config) Warnings() []string { return c.warnings }

// Origin returns where the value of a key came from.
func (c *Config) Origin(key string) Origin { return c.origins[key] }
