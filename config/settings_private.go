// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
)

func privacy() []Setting { return slices.Concat(noise(), allocation(), guarantee()) }

func noise() []Setting {
	const g = GroupPrivacy
	return []Setting{
		{
			Key: "epsilon", Group: g, Default: "1", Help: "privacy loss ε of one release", arg: "NUMBER",
			wants: bounds{min: 1e-6, max: 1e3, text: "> 0 (1e-06 to 1000)"}, // where the calibration was checked
			field: func(c *Config) any { return &c.Privacy.Epsilon },
		},
		{
			Key: "delta", Group: g, Default: "1e-05", Help: "failure probability δ of the guarantee", arg: "NUMBER",
			wants: bounds{min: 1e-300, max: 1, openMax: true, text: "in (0, 1), at least 1e-300"},
			field: func(c *Config) any { return &c.Privacy.Delta },
		},
		{
			Key: "alpha", Group: g, Default: "1", Help: "how far a source may move and stay hidden (earth mover's distance, in the metric)",
			arg: "NUMBER", wants: above(0, "> 0"),
			field: func(c *Config) any { return &c.Privacy.Alpha },
		},
		{
			Key: "metric", Group: g, Default: "hops", Help: "distance: hops, or the relationship property that holds a length",
			arg: "hops|PROPERTY", check: nonEmpty,
			field: func(c *Config) any { return &c.Privacy.Metric },
		},
	}
}

func allocation() []Setting {
	const g = GroupPrivacy
	return []Setting{
		{
			Key: "allocation", Group: g, Default: "optimal", Values: []string{"optimal", "uniform"},
			Help: "how noise is shared among the sensors at the same guarantee: so that communities are told apart best, or equally; " +
				"unless given, equally where sensors measure and no range of τ, absent relationship or other graph is declared; equally " +
				"above 200,000 nodes, unless given",
			field: func(c *Config) any { return &c.Privacy.Allocation },
		},
		{
			Key: "maxSensors", Group: g, Help: "sensors that report at most; no limit unless given", arg: "NUMBER",
			wants: atLeast(1, "≥ 1"),
			field: func(c *Config) any { return &c.Privacy.MaxSensors },
		},
	}
}

func guarantee() []Setting {
	const g = GroupPrivacy
	return []Setting{
		{
			Key: "guarantee", Group: g, Default: "joint", Values: []string{"joint", "perSensor"},
			Help:  "what ε and δ hold for: all readings together, or each alone",
			field: func(c *Config) any { return &c.Privacy.Guarantee },
		},
		{
			Key: "spendAtChance", Group: GroupBudget, Default: "false",
			Help:  "spend although simulation does not tell the answer from chance, which is refused otherwise",
			field: func(c *Config) any { return &c.Privacy.SpendAtChance },
		},
		{
			Key: "clip", Group: g, arg: "LOW..HIGH",
			Help:  "public range of a reading, such as 0..1; what the diffusion can reach unless given",
			field: func(c *Config) any { return &c.Privacy.Clip },
		},
		{
			Key: "weightError", Group: g, Help: "sensors measure, and each weight may be off by this much, such as 20%: the guarantee " +
				"holds for all", arg: "SHARE",
			field: func(c *Config) any { return &c.Privacy.WeightError },
		},
		{
			Key: "scenario", Group: GroupScenario, Help: "sensors measure, and the process may have run on each of the graphs in this " +
				"CSV file (scenario,source,target,weight; weight 0: absent): the guarantee holds for each, not between them", arg: "FILE",
			notEmpty: true,
			field:    func(c *Config) any { return &c.Privacy.Scenario },
		},
	}
}

func escrow() []Setting {
	const g = GroupEscrow
	return []Setting{
		{
			Key: "keyFile", Group: g, Flag: "key", Help: "file with the secret of the deployment, mode 0600", arg: "FILE",
			field: func(c *Config) any { return &c.Escrow.KeyFile },
		},
		{
			Key: "deployment", Group: g,
			Help: "derive the noise from the master secret of this installation, by its number in the order of rotation, 1 unless " +
				"given: its holder can remove it; unless given nobody can", arg: "NAME/NUMBER",
			field: func(c *Config) any { return &c.Escrow.Deployment },
		},
	}
}

func recovery() []Setting {
	const g = GroupRecovery
	return []Setting{
		{
			Key: "sigma", Group: GroupNoise, Help: "standard deviation of the noise of every value, when neither a release file nor a " +
				"property with one σ a value is at hand", arg: "NUMBER", wants: above(0, "> 0"),
			field: func(c *Config) any { return &c.Recovery.Sigma },
		},
		{
			Key: "priorProperty", Group: g, Help: "public node property with the prior weight of being the source; it shapes plan and " +
				"report, so nothing private may be in it; flat unless given", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Recovery.PriorProperty },
		},
		{
			Key: "sources", Group: g, Default: "auto",
			Help: "sources that the posterior supposes; auto: one, or two where the evidence for a second is clear; two on up " +
				"to 6,000 nodes", arg: "auto|1|2",
			field: func(c *Config) any { return &c.Recovery.Sources },
		},
		{
			Key: "falseAlarm", Group: g, Default: "0.05",
			Help: "how often a source may be found where there is none, or a second where there is one; 1: a source is supposed",
			arg:  "NUMBER", wants: bounds{min: 0, max: 1, openMin: true, text: "in (0, 1]"},
			field: func(c *Config) any { return &c.Recovery.FalseAlarm },
		},
		{
			Key: "sensorFaultRate", Group: g, Help: "prior probability of each sensor to be broken: no few of them then decide the " +
				"answer; 0.01 for a release of sensors that measure, else 0, unless given", arg: "NUMBER",
			wants: bounds{min: 0, max: 1, openMax: true, text: "at least 0 and below 1"},
			field: func(c *Config) any { return &c.Recovery.FaultRate },
		},
	}
}

func community() []Setting {
	const g = GroupCommunity
	return []Setting{
		{
			Key: "communityProperty", Group: g, Help: "node property with the community; detected unless given", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Community.Property },
		},
		{
			Key: "gamma", Group: g, arg: "NUMBER", wants: above(0, "> 0"),
			Help:  "resolution of the detection: larger gives smaller communities; 1 unless given",
			field: func(c *Config) any { return &c.Community.Gamma },
		},
	}
}

func write() []Setting {
	const g = GroupWrite
	return []Setting{
		{
			Key: "mode", Group: g, Default: "stream", Values: []string{"stream", "stats", "write", "estimate"},
			Help:  "stream: a row a node; stats: the summary; write: into the store; estimate: cost, nothing run",
			field: func(c *Config) any { return &c.Write.Mode },
		},
		{
			Key: "propertyPrefix", Group: g, Default: "gc", check: checkPrefix,
			Help: "start of the names of written properties", arg: "NAME",
			field: func(c *Config) any { return &c.Write.PropertyPrefix },
		},
		{
			Key: "dryRun", Group: g, Default: "false", Help: "print what would be written and spent, and stop", noFile: true,
			field: func(c *Config) any { return &c.Write.DryRun },
		},
	}
}

func reports() []Setting {
	const g = GroupReport
	return []Setting{
		{
			Key: "report", Group: g, Help: "write the report with its map as one HTML page into this file; {runId} in its name becomes " +
				"the id of the run", arg: "FILE",
			field: func(c *Config) any { return &c.Report.File },
		},
		{
			Key: "nodeCaption", Group: g, Help: "public node property that a reader knows a node by, shown beside its id", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Report.Caption },
		},
	}
}

func output() []Setting {
	const g = GroupOutput
	return []Setting{
		{
			Key: "format", Group: g, Values: []string{"table", "json", "ndjson", "csv", "parquet"},
			Help:  "form of the result; table on a terminal, json elsewhere",
			field: func(c *Config) any { return &c.Output.Format },
		},
		{
			Key: "output", Group: g, Short: "o", Help: "write the result to this file; - is standard output", arg: "FILE", noFile: true,
			field: func(c *Config) any { return &c.Output.File },
		},
		{
			Key: "force", Group: g, Default: "false", Help: "replace files and properties that are in the way", noFile: true,
			field: func(c *Config) any { return &c.Output.Force },
		},
	}
}

func execution() []Setting {
	const g = GroupExecution
	return []Setting{
		{
			Key: "sudo", Group: g, Default: "false", Help: "run although the memory estimate says no; never bypasses the privacy budget",
			field: func(c *Config) any { return &c.Execution.Sudo },
		},
		{
			Key: "strict", Group: g, Default: "false", Help: "exit with 12 after warnings and with 10 if BPDN is infeasible; a run that " +
				"warns before it spends ends with 6, one from a scope without a cap with 9, and spends nothing",
			field: func(c *Config) any { return &c.Execution.Strict },
		},
	}
}

func terminal() []Setting {
	const g = GroupTerminal
	return []Setting{
		{
			Key: "quiet", Group: g, Short: "q", Default: "false", Help: "show no progress and no warnings",
			field: func(c *Config) any { return &c.Terminal.Quiet },
		},
		{
			Key: "verbose", Group: g, Short: "v", Default: "false",
			Help:  "show all numbers and the guarantee in words; off a terminal, the whole log",
			field: func(c *Config) any { return &c.Terminal.Verbose },
		},
	}
}
