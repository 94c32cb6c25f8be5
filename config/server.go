// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"strconv"
)

// Server says where `serve` listens, and how its jobs are run.
type Server struct {
	Listen         string   // HOST:PORT
	TokenFile      string   // "": none
	TLSCertificate string   // file; "": none
	Insecure       bool     // answer others than this machine without TLS
	FiledJobs      []string // KEY=NAME: what jobs in the store may name; none: they are not run
}

func checkListen(text string) string {
	_, port, err := net.SplitHostPort(text)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return "HOST:PORT such as 127.0.0.1:8473 or :8473"
	}
	return ""
}

func server() []Setting {
	const g = GroupServer
	return []Setting{
		{
			Key: "listen", Group: g, Default: "127.0.0.1:8473",
			Help: "address to listen on; others than this machine's own need a token, and TLS or --insecure", arg: "HOST:PORT",
			check: checkListen,
			field: func(c *Config) any { return &c.Server.Listen },
		},
		{
			Key: "tokenFile", Group: g, Help: "file of mode 0600 whose first line is the bearer token that clients give", arg: "FILE",
			field: func(c *Config) any { return &c.Server.TokenFile },
		},
		{
			Key: "tlsCertificate", Group: g, arg: "FILE",
			Help:  "certificate chain and private key of the server, PEM; the key may be in a file beside it that ends in .key",
			field: func(c *Config) any { return &c.Server.TLSCertificate },
		},
		{
			Key: "insecure", Group: g, Default: "false", Help: "listen beyond this machine without TLS, as behind a proxy that has it",
			field: func(c *Config) any { return &c.Server.Insecure },
		},
		{
			Key: "filedJobs", Group: g, arg: "KEY=NAME,...",
			Help: "run the jobs that are filed in the store, which may name these labels, types and properties, such as " +
				"nodeLabels=Person,sourceProperty=risk; none of those jobs unless given",
			field: func(c *Config) any { return &c.Server.FiledJobs },
		},
	}
}
