// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net"
	"strconv"
	"time"
)

// Server says where `serve` listens, and how its jobs are run.
type Server struct {
	Listen         string // HOST:PORT
	TokenFile      string // "": none
	TLSCertificate string // file; "": none
	TLSKey         string // file
	Insecure       bool   // answer others than this machine without TLS
	Lease          time.Duration
	PollInterval   time.Duration
	ParallelJobs   int
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
			Key: "tlsCertificate", Group: g, Help: "certificate chain of the server, PEM", arg: "FILE",
			field: func(c *Config) any { return &c.Server.TLSCertificate },
		},
		{
			Key: "tlsKey", Group: g, Help: "private key of that certificate, PEM", arg: "FILE",
			field: func(c *Config) any { return &c.Server.TLSKey },
		},
		{
			Key: "insecure", Group: g, Default: "false", Help: "listen beyond this machine without TLS, as behind a proxy that has it",
			field: func(c *Config) any { return &c.Server.Insecure },
		},
		{
			Key: "lease", Group: g, Default: "1m0s", Help: "time after which another instance takes over the run of one that is gone",
			arg: "DURATION", wants: atLeast(3e9, "of 3s or more"),
			field: func(c *Config) any { return &c.Server.Lease },
		},
		{
			Key: "pollInterval", Group: g, Default: "10s", Help: "time between two looks at the jobs in the store", arg: "DURATION",
			wants: atLeast(1e9, "of 1s or more"),
			field: func(c *Config) any { return &c.Server.PollInterval },
		},
		{
			Key: "parallelJobs", Group: g, Default: "1", Help: "runs of different jobs at once", arg: "NUMBER", wants: atLeast(1, "≥ 1"),
			field: func(c *Config) any { return &c.Server.ParallelJobs },
		},
		{
			Key: "filedJobs", Group: g, arg: "KEY=NAME,...",
			Help: "run the jobs that are filed in the store, which may name these labels, types and properties, such as " +
				"nodeLabels=Person,sourceProperty=risk; none of those jobs unless given",
			field: func(c *Config) any { return &c.Server.FiledJobs },
		},
	}
}
