// SPDX-License-Identifier: Apache-2.0

// Package memory reports how much this process may still allocate.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Available returns the least of what the machine has left and what each control
// group around this process leaves (v1 and v2, up to the root of the hierarchy).
// Where none is known it is the largest number.
func Available() int64 { return available(os.DirFS("/")) }

func available(root fs.FS) int64 {
	s := system{root: root}
	limit := s.machine()
	for _, g := range s.groups() {
		limit = min(limit, s.group(g))
	}
	return max(limit, 0)
}

const unknown = math.MaxInt64

// system is what the kernel says in files.
type system struct{ root fs.FS }

func (s system) text(name string) string {
	data, err := fs.ReadFile(s.root, strings.TrimPrefix(path.Clean(name), "/"))
	if err != nil {
		return ""
	}
	return string(data)
}

// number is the number in a file; "max", and what is no number, is none.
func (s system) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s.text(name)), 10, 64)
	return n, err == nil
}

// field is the number behind a name in a file of such lines.
func (s system) field(file, name string) (int64, bool) {
	for line := range strings.Lines(s.text(file)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			words := strings.Fields(rest)
			if len(words) == 0 {
				return 0, false
			}
			n, err := strconv.ParseInt(words[0], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// machine is what the machine has left.
func (s system) machine() int64 {
	if kib, ok := s.field("proc/meminfo", "MemAvailable:"); ok {
		return kib << 10
	}
	return unknown
}

// group is a control group: its folder and the names of its files.
type group struct {
	dir             string
	limits          []string
	current, unused string // unused: the file cache that goes first, in memory.stat
}

// groups lists the groups around this process, in every hierarchy that counts
// memory.
func (s system) groups() []group {
	var all []group
	for line := range strings.Lines(s.text("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		g := group{limits: []string{"memory.max", "memory.high"}, current: "memory.current", unused: "inactive_file "}
		v2 := parts[0] == "0" && parts[1] == ""
		if !v2 {
			if !slices.Contains(strings.Split(parts[1], ","), "memory") {
				continue
			}
			g = group{limits: []string{"memory.limit_in_bytes"}, current: "memory.usage_in_bytes", unused: "total_inactive_file "}
		}
		top, at := s.mount(v2)
		below, _ := strings.CutPrefix(parts[2], strings.TrimSuffix(at, "/"))
		for dir := path.Clean("/" + below); ; dir = path.Dir(dir) {
			g.dir = top + dir
			all = append(all, g)
			if dir == "/" {
				break
			}
		}
	}
	return all
}

// mount is where a hierarchy is mounted, and which of its groups lies there: a
// container may see a part of it.
func (s system) mount(v2 bool) (top, at string) {
	for line := range strings.Lines(s.text("proc/self/mountinfo")) {
		place, kind, ok := strings.Cut(line, " - ")
		words, kinds := strings.Fields(place), strings.Fields(kind)
		if !ok || len(words) < 5 || len(kinds) < 3 {
			continue
		}
		if v2 && kinds[0] == "cgroup2" || !v2 && kinds[0] == "cgroup" && slices.Contains(strings.Split(kinds[2], ","), "memory") {
			return words[4], words[3]
		}
	}
	if v2 {
		return "/sys/fs/cgroup", "/"
	}
	return "/sys/fs/cgroup/memory", "/"
}

// group is what a group leaves. File cache that the kernel drops first counts as
// free.
func (s system) group(g group) int64 {
	left := int64(unknown)
	used, _ := s.number(g.dir + "/" + g.current)
	cache, _ := s.field(g.dir+"/memory.stat", g.unused)
	used = max(used-cache, 0)
	for _, name := range g.limits {
		if limit, ok := s.number(g.dir + "/" + name); ok {
			left = min(left, limit-used)
		}
	}
	return left
}

// Format writes a size with a binary unit.
func Format(n int64) string {
	x, unit := float64(n), 0
	for x >= 1024 && unit < 4 {
		x, unit = x/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB"}[unit])
}
