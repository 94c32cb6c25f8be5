// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"sync"
)

// EnvPrefix starts every environment variable of ours.
const EnvPrefix = "GRAPHCLOAK_"

// Settings returns the table of all settings.
func Settings() []Setting { return slices.Clone(table()) }

// table is built once: flags, files and help are read by it.
var table = sync.OnceValue(func() []Setting {
	var all []Setting
	for _, rows := range [][]Setting{
		connection(), source(), projection(), diffusion(), sensors(), signal(), privacy(), escrow(),
		recovery(), community(), server(), write(), reports(), output(), execution(), schedule(), terminal(),
	} {
		all = append(all, rows...)
	}
	order := Groups()
	slices.SortStableFunc(all, func(a, b Setting) int {
		return slices.Index(order, a.Group) - slices.Index(order, b.Group)
	})
	for i := range all {
		s := &all[i]
		if s.Flag == "" {
			s.Flag = kebab(s.Key)
		}
		s.Env = append([]string{EnvPrefix + upperSnake(s.Key)}, s.Env...)
	}
	return all
})

func connection() []Setting {
	const g = GroupConnection
	return []Setting{
		{
			Key: "neo4jUri", Group: g, Flag: "uri", Short: "a", Env: []string{"NEO4J_URI", "NEO4J_ADDRESS"},
			Default: "neo4j://localhost:7687", Help: "address of the server", arg: "URI", check: checkURI,
			field: func(c *Config) any { return &c.Connection.URI },
		},
		{
			Key: "neo4jUsername", Group: g, Flag: "username", Short: "u", Env: []string{"NEO4J_USERNAME"},
			Help: "user name", arg: "NAME",
			field: func(c *Config) any { return &c.Connection.Username },
		},
		{
			Key: "neo4jPassword", Group: g, Flag: "password", Short: "p", Env: []string{"NEO4J_PASSWORD"},
			Help: "password; other users can see a flag: prefer NEO4J_PASSWORD, --password-file or the prompt", arg: "SECRET", noFile: true,
			field: func(c *Config) any { return &c.Connection.Password },
		},
		{
			Key: "passwordFile", Group: g, Help: "file whose first line is the password; - is standard input", arg: "FILE",
			field: func(c *Config) any { return &c.Connection.PasswordFile },
		},
		{
			Key: "neo4jDatabase", Group: g, Flag: "database", Short: "d", Env: []string{"NEO4J_DATABASE"},
			Help: "database; the user's home database unless given", arg: "NAME",
			field: func(c *Config) any { return &c.Connection.Database },
		},
	}
}

func source() []Setting {
	return []Setting{{
		Key: "from", Group: GroupSource, arg: "neo4j|folder:DIR|example:NAME|generate:SPEC",
		Help:  "where the graph comes from; neo4j if a server address is given",
		field: func(c *Config) any { return &c.From },
	}}
}

func projection() []Setting {
	const g = GroupProjection
	return []Setting{
		{
			Key: "nodeLabels", Group: g, Help: "nodes with any of these labels; all unless given", arg: "LABEL,...",
			field: func(c *Config) any { return &c.Projection.NodeLabels },
		},
		{
			Key: "relationshipTypes", Group: g, Help: "relationships of any of these types; all unless given", arg: "TYPE,...",
			field: func(c *Config) any { return &c.Projection.RelationshipTypes },
		},
		{
			Key: "nodeQuery", Group: GroupQueries, Help: "read-only Cypher, instead of labels; its column id holds nodes (RETURN n AS " +
				"id), their elementId() or, with --node-key, that property", arg: "CYPHER",
			field: func(c *Config) any { return &c.Projection.NodeQuery },
		},
		{
			Key: "relationshipQuery", Group: GroupQueries, Help: "read-only Cypher, instead of types; its columns source and target " +
				"name nodes as the node query does, weight and length hold numbers", arg: "CYPHER",
			field: func(c *Config) any { return &c.Projection.RelationshipQuery },
		},
		{
			Key: "nodeKey", Group: g, Help: "property that identifies a node for good; the store's own id unless given", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Projection.NodeKey },
		},
		{
			Key: "relationshipWeightProperty", Group: g, arg: "PROPERTY",
			Help:  "relationship property with the weight; every weight is 1 unless given",
			field: func(c *Config) any { return &c.Projection.RelationshipWeightProperty },
		},
		{
			Key: "aggregation", Group: g, Default: "SUM", Values: []string{"SUM", "MIN", "MAX", "SINGLE", "COUNT", "NONE"},
			Help:  "what becomes of the weights of parallel relationships; NONE refuses them",
			field: func(c *Config) any { return &c.Projection.Aggregation },
		},
		{
			Key: "isolated", Group: g, Default: "refuse", Values: []string{"refuse", "drop", "allow"},
			Help: "what to do with nodes without a relationship, where no source can be hidden: drop leaves them out, allow does not " +
				"protect them",
			field: func(c *Config) any { return &c.Projection.Isolated },
		},
	}
}

func diffusion() []Setting {
	const g = GroupDiffusion
	return []Setting{
		{
			Key: "tau", Group: g, Default: "auto", arg: "auto|NUMBER|FROM..TO",
			Help: "diffusion time τ of e^{-τL}; auto searches the one at which sources are found best; sensors that measure have " +
				"theirs: 2 unless given, or anything in a range such as 1.5..2.5, and the guarantee holds for all of it",
			field: func(c *Config) any { return &c.Diffusion.Tau },
		},
		{
			Key: "laplacian", Group: g, Default: "combinatorial", Values: []string{"combinatorial", "normalized", "randomWalk"},
			Help:  "which Laplacian L of the graph",
			field: func(c *Config) any { return &c.Diffusion.Laplacian },
		},
	}
}

func sensors() []Setting {
	const g = GroupSensors
	return []Setting{
		{
			Key: "sensorProperty", Group: g, Help: "nodes whose property is true or not 0 carry sensors; all unless given", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Sensors.Property },
		},
	}
}

func signal() []Setting {
	const g = GroupSignal
	return []Setting{
		{
			Key: "sourceProperty", Group: g, Help: "node property with the source strength in [0, 1]; GraphCloak diffuses it",
			arg:   "PROPERTY",
			field: func(c *Config) any { return &c.Signal.SourceProperty },
		},
		{
			Key: "measurementProperty", Group: g, Help: "node property with a sensor's reading, already diffused", arg: "PROPERTY",
			field: func(c *Config) any { return &c.Signal.MeasurementProperty },
		},
	}
}
