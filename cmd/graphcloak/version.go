// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/graphcloak/graphcloak/cmd/graphcloak/internal/term"
	"github.com/graphcloak/graphcloak/config"
)

// version and builder are set by the linker (-X main.version=v0.1.0) in what is built from a checkout to be handed on.
var version, builder string

// build is what the binary knows of how it was made. What the Go tool did not write into it is left out.
type build struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	Time      string `json:"time,omitempty"`     // of the revision
	Modified  *bool  `json:"modified,omitempty"` // the files were not those of the revision
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	Builder   string `json:"builder"` // goreleaser, wheels.sh, or go for the Go tool alone
}

func readBuild() build {
	b := build{
		Version: cmp.Or(version, "(devel)"), GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Builder: cmp.Or(builder, "go"),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(version, info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = new(s.Value == "true")
		}
	}
	return b
}

// String is the line that --version prints.
func (b build) String() string {
	return fmt.Sprintf("graphcloak %s %s %s", b.Version, b.GoVersion, b.Platform)
}

func newVersionCommand(app *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Version of this program, and as JSON how it was built",
		Example: "  graphcloak version --json",
		GroupID: groupManage,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				app.config.Output.Format = "json"
			}
			b := readBuild()
			return app.render(b, term.Section{Text: b.String()})
		},
		Annotations: map[string]string{flagsOnly: "true"},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "say how this program was built: --format json")
	return app.withSettings(cmd, nil, nil, config.GroupOutput)
}
