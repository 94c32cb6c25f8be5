// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"sync"
)

// EnvPrefix starts every environment variable of ours.
const EnvPrefix = "GRAPHCLOAK_"

// The groups.
const (
	GroupConnection Group = "Connection"
	GroupSource     Group = "Graph source"
	GroupProjection Group = "Projection"
	GroupQueries    Group = "Operator and queries"
	GroupDiffusion  Group = "Diffusion"
	GroupSensors    Group = "Sensors"
	GroupSignal     Group = "Signal"
	GroupPrivacy    Group = "Privacy"
	GroupScenario   Group = "Scenarios"
	GroupBudget     Group = "Budget"
	GroupEscrow     Group = "Escrow"
	GroupRecovery   Group = "Recovery"
	GroupCommunity  Group = "Communities"
	GroupServer     Group = "Server"
	GroupWrite      Group = "Mode"
	GroupReport     Group = "Report"
	GroupOutput     Group = "Output"
	GroupExecution  Group = "Execution"
	GroupSchedule   Group = "Schedule"
	GroupTerminal   Group = "Terminal"
)

// section is a group with its settings.
type section struct {
	group Group
	rows  []Setting
}

// sections is the table, in the order of help and reference. A new setting is a row here and a field of [Config].
func sections() []section {
	return []section{
		{GroupConnection, []Setting{
			row("neo4jUri", "URI", "address of the server", "a server that is not this machine's", Setting{
				Default: "neo4j://localhost:7687", check: checkURI, Flag: "uri", Short: "a", Env: []string{"NEO4J_URI", "NEO4J_ADDRESS"},
			}),
			row("neo4jUsername", "NAME", "user name", "every server",
				Setting{Flag: "username", Short: "u", Env: []string{"NEO4J_USERNAME"}}),
			row("neo4jPassword", "SECRET", "password, by its variable alone: other users could see a flag; else --password-file or "+
				"the prompt", "a container", Setting{Env: []string{"NEO4J_PASSWORD"}, noFile: true}),
			row("passwordFile", "FILE", "file whose first line is the password; - is standard input", "a service or a schedule"),
			row("neo4jDatabase", "NAME", "database; the user's home database unless given", "a server of several databases",
				Setting{Flag: "database", Short: "d", Env: []string{"NEO4J_DATABASE"}}),
		}},
		{GroupSource, []Setting{
			row("from", "neo4j|folder:DIR|snapshot:FILE|example:NAME|generate:SPEC", "where the graph comes from; neo4j if a server "+
				"address is given", "a graph in CSV files or in a snapshot, or a first try"),
		}},
		{GroupProjection, []Setting{
			row("nodeLabels", "LABEL,...", "nodes with any of these labels; all unless given", "one graph among others in a database"),
			row("relationshipTypes", "TYPE,...", "relationships of any of these types; all unless given",
				"the ties that spread what is hidden"),
			row("nodeKey", "PROPERTY", "property that identifies a node for good; the store's own id unless given",
				"plans and releases in files"),
			row("relationshipWeightProperty", "PROPERTY", "relationship property with the weight; every weight is 1 unless given",
				"ties of different strength"),
			row("aggregation", "", "what becomes of the weights of parallel relationships; NONE refuses them",
				"ties that are stored twice (SINGLE), or events whose number counts (COUNT)",
				Setting{Default: "SUM", Values: []string{"SUM", "MIN", "MAX", "SINGLE", "COUNT", "NONE"}}),
			row("isolated", "", "what to do with nodes without a relationship, where no source can be hidden: drop leaves them out, "+
				"allow does not protect them", "graphs with loose ends",
				Setting{Default: "refuse", Values: []string{"refuse", "drop", "allow"}}),
		}},
		{GroupQueries, []Setting{
			row("operator", "FILE|relationships:TYPE,...", "what sensors read of a unit source at each node, in place of e^{-τL}: "+
				"a CSV, Parquet or Matrix Market file (sensor,node,response and, for several readings of a sensor, time), or "+
				"relationships with the property response; several are alternatives, and the guarantee holds for each",
				"a transport that is known, such as a water network's"),
			row("nodeQuery", "CYPHER", "read-only Cypher, instead of labels; its column id holds nodes (RETURN n AS id), their "+
				"elementId() or, with --node-key, that property", "a selection that labels cannot express"),
			row("relationshipQuery", "CYPHER", "read-only Cypher, instead of types; its columns source and target name nodes as the "+
				"node query does, weight and length hold numbers", "ties that are derived, or whose weights have gaps"),
		}},
		{GroupDiffusion, []Setting{
			row("tau", "auto|NUMBER|FROM..TO", "diffusion time τ of e^{-τL}; auto searches the one at which sources are found best; "+
				"sensors that measure have theirs: 2 unless given, or anything in a range such as 1.5..2.5, and the guarantee holds "+
				"for all of it", "a process that ran for a known time, or runs that are compared", Setting{Default: "auto"}),
			row("laplacian", "", "which Laplacian L of the graph", "a process that slows down at hubs",
				Setting{Default: "combinatorial", Values: []string{"combinatorial", "normalized", "randomWalk"}}),
		}},
		{GroupSensors, []Setting{
			row("sensorProperty", "PROPERTY", "nodes whose property is true or not 0 carry sensors; all unless given",
				"sensors at some nodes alone"),
		}},
		{GroupSignal, []Setting{
			row("sourceProperty", "PROPERTY", "node property with the source strength in [0, 1]; GraphCloak diffuses it",
				"every run on known sources"),
			row("measurementProperty", "PROPERTY", "node property with a sensor's reading, already diffused",
				"every run on measurements"),
			row("answerProperty", "PROPERTY", "node property that says whether a person has heard a whisper: true or false, 1 or 0; "+
				"who has none is not asked; answers are flipped at random, ε for each person", "every run on what people have heard"),
			row("round", "NUMBER", "everybody is asked once in a round, and their answer is kept; the next round asks again, for ε again",
				"a whisper that spreads on",
				Setting{Default: "1", wants: bounds{min: 1, max: 1e6, whole: true, text: "≥ 1 and whole"}}),
			row("reach", "NUMBER", "how many people have heard the whisper; 0: unknown", "a whisper whose size is known",
				Setting{Default: "0", wants: bounds{min: 0, max: 1e9, whole: true, text: "≥ 0 and whole"}}),
		}},
		{GroupPrivacy, []Setting{
			row("epsilon", "NUMBER", "privacy loss ε of one release", "a better answer, or more privacy",
				Setting{Default: "1", wants: bounds{min: 1e-6, max: 1e3, text: "> 0 (1e-06 to 1000)"}}),
			row("delta", "NUMBER", "failure probability δ of the guarantee", "graphs of more people than 1/δ",
				Setting{Default: "1e-05", wants: bounds{min: 1e-300, max: 1, openMax: true, text: "in (0, 1), at least 1e-300"}}),
			row("alpha", "NUMBER", "how far a source may move and stay hidden (earth mover's distance, in the metric)",
				"a source that is to be hidden among more than its neighbours", Setting{Default: "1", wants: above(0)}),
			row("metric", "hops|PROPERTY", "distance: hops, or the relationship property that holds a length", "pipes and roads",
				Setting{Default: "hops", check: nonEmpty}),
			row("allocation", "", "how noise is shared among the sensors at the same guarantee: so that communities are told apart "+
				"best, or equally; unless given, equally where sensors measure and no range of τ or other graph "+
				"is declared; equally above 200,000 nodes, unless given", "a comparison with the paper, or a model in doubt",
				Setting{Default: "optimal", Values: []string{"optimal", "uniform"}}),
			row("guarantee", "", "what ε and δ hold for: all readings together, or each alone",
				"sensors whose readings are never seen together", Setting{Default: "joint", Values: []string{"joint", "perSensor"}}),
			row("clip", "LOW..HIGH", "public range of a reading, such as 0..1; what the diffusion can reach unless given",
				"sensors with a scale"),
		}},
		{GroupScenario, []Setting{
			row("scenario", "FILE", "sensors measure, and the process may have run on each of the graphs in this CSV file "+
				"(scenario,source,target,weight; weight 0: absent): the guarantee holds for each, not between them",
				"valves and switches", Setting{notEmpty: true}),
		}},
		{GroupBudget, []Setting{
			row("spendAtChance", "", "spend although simulation does not tell the answer from chance, which is refused otherwise",
				"releases that others analyse"),
		}},
		{GroupEscrow, []Setting{
			row("keyFile", "FILE", "file with the secret of the deployment, mode 0600", "every escrow", Setting{Flag: "key"}),
			row("deployment", "NAME/NUMBER", "derive the noise from the master secret of this installation, by its number in the "+
				"order of rotation, 1 unless given: its holder can remove it; unless given nobody can",
				"a holder who must be able to reveal"),
		}},
		{GroupRecovery, []Setting{
			row("priorProperty", "PROPERTY", "public node property with the prior weight of being the source; it shapes plan and "+
				"report, so nothing private may be in it; flat unless given", "places that are likelier from the start"),
			row("sources", "", "sources that the posterior supposes; auto: one, or two where the evidence for a second is "+
				"clear; two on up to 6,000 nodes", "a number that is known", Setting{Default: "auto", Values: []string{"auto", "1", "2"}}),
			row("falseAlarm", "NUMBER", "how often a source may be found where there is none, or a second where there is one; 1: a "+
				"source is supposed", "a source that is known to be there, or an alarm that is expensive",
				Setting{Default: "0.05", wants: bounds{min: 0, max: 1, openMin: true, text: "in (0, 1]"}}),
			row("sensorFaultRate", "NUMBER", "prior probability of each sensor to be broken: no few of them then decide the answer; "+
				"0.01 for a release of sensors that measure, else 0, unless given", "sensors that are tested, or old",
				Setting{wants: bounds{min: 0, max: 1, openMax: true, text: "at least 0 and below 1"}}),
		}},
		{GroupCommunity, []Setting{
			row("communityProperty", "PROPERTY", "node property with the community; detected unless given",
				"districts, teams or zones that have names"),
			row("gamma", "NUMBER", "resolution of the detection: larger gives smaller communities; 1 unless given",
				"communities of another size", Setting{wants: above(0)}),
		}},
		{GroupServer, []Setting{
			row("listen", "HOST:PORT", "address to listen on; others than this machine's own need a token and --tls-certificate",
				"a server that others see", Setting{Default: "127.0.0.1:8473", check: checkListen}),
			row("tokenFile", "FILE", "file of mode 0600 whose first line is the bearer token that clients give",
				"a server that others see"),
			row("tlsCertificate", "FILE|none", "certificate chain and private key of the server, PEM; the key may be in a file beside "+
				"it that ends in .key; none: listen beyond this machine without TLS, as behind a proxy that has it",
				"a server that others see"),
		}},
		{GroupWrite, []Setting{
			row("mode", "", "where the answer goes; stream: a row a node; stats: the summary; write: into the store",
				"what becomes of the answer", Setting{Default: "stream", Values: []string{"stream", "stats", "write"}}),
			row("propertyPrefix", "NAME", "start of the names of written properties", "two runs on one graph",
				Setting{Default: "gc", check: checkPrefix}),
			row("dryRun", "", "print what would be written and spent, and stop", "a first look", Setting{noFile: true}),
		}},
		{GroupReport, []Setting{
			row("report", "FILE", "write the report with its map as one HTML page into this file; {runId} in its name becomes the id "+
				"of the run", "readers who open a page"),
			row("nodeCaption", "PROPERTY", "public node property that a reader knows a node by, shown beside its id",
				"ids that say nothing"),
		}},
		{GroupOutput, []Setting{
			row("format", "", "form of the result; table on a terminal, json elsewhere", "spreadsheets and notebooks",
				Setting{Values: []string{"table", "json", "ndjson", "csv", "parquet"}}),
			row("output", "FILE", "write the result to this file; - is standard output", "a result that is kept",
				Setting{Short: "o", noFile: true}),
			row("force", "", "replace files and properties that are in the way", "the second time", Setting{noFile: true}),
		}},
		{GroupExecution, []Setting{
			row("sudo", "", "run although the memory estimate says no; never bypasses the privacy budget",
				"an estimate that is too careful"),
			row("strict", "", "exit with 12 after warnings and with 10 if BPDN is infeasible; a run that warns before it spends ends "+
				"with 6, one from a scope without a cap with 9, and spends nothing", "runs that nobody watches"),
		}},
		{GroupSchedule, []Setting{
			row("oncePer", "SPAN", "do nothing where a run of the same property was finished within this time, by the store's clock",
				"a schedule that tries again", Setting{notEmpty: true}),
		}},
		{GroupTerminal, []Setting{
			row("quiet", "", "show no progress and no warnings", "cron", Setting{Short: "q"}),
			row("verbose", "", "show all numbers and the guarantee in words; off a terminal, the whole log", "an auditor, or a fault",
				Setting{Short: "v"}),
		}},
	}
}

// Groups lists all groups in order.
func Groups() (all []Group) {
	for _, s := range sections() {
		all = append(all, s.group)
	}
	return all
}

// Settings returns the table of all settings.
func Settings() []Setting { return slices.Clone(table()) }

// table is built once: flags, files and help are read by it.
var table = sync.OnceValue(func() (all []Setting) {
	for _, part := range sections() {
		for _, s := range part.rows {
			s.Group = part.group
			if s.Flag == "" && !s.Secret() {
				s.Flag = kebab(s.Key)
			}
			if s.Type() == "boolean" {
				s.Default = "false"
			}
			s.Env = append([]string{EnvPrefix + upperSnake(s.Key)}, s.Env...)
			all = append(all, s)
		}
	}
	return all
})
