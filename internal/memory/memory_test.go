// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"testing"
	"testing/fstest"
)

const (
	v2Mount = "25 1 0:22 / /sys rw - sysfs sysfs rw\n30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	v1Mount = "33 25 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n34 25 0:30 /docker/abc /sys/fs/cgroup/mem rw - cgroup " +
		"cgroup rw,memory\n"
)

// TestAvailable gives the kernel's files of known machines; the numbers are theirs.
func TestAvailable(t *testing.T) {
	meminfo := "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, math.MaxInt64},
		"the machine": {map[string]string{
			"proc/meminfo": meminfo,
		}, 8000 << 10},
		"a cut meminfo": {map[string]string{"proc/meminfo": "MemAvailable:"}, math.MaxInt64},
		"v2, own namespace": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/memory.max": "5000\n", "sys/fs/cgroup/memory.current": "1000\n",
		}, 4000},
		"v2, cache counts as free": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/memory.max": "5000\n", "sys/fs/cgroup/memory.current": "4900\n",
			"sys/fs/cgroup/memory.stat": "anon 300\ninactive_anon 7\nfile 4500\ninactive_file 4000\n",
		}, 4100},
		"v2, the parent is tighter": {map[string]string{
			"proc/self/cgroup": "0::/user.slice/run.scope\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/user.slice/run.scope/memory.max": "max\n", "sys/fs/cgroup/user.slice/run.scope/memory.current": "100\n",
			"sys/fs/cgroup/user.slice/memory.max": "3000\n", "sys/fs/cgroup/user.slice/memory.current": "2000\n",
		}, 1000},
		"v2, memory.high": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2Mount,
			"sys/fs/cgroup/a/b/memory.max": "9000\n", "sys/fs/cgroup/a/b/memory.high": "700\n", "sys/fs/cgroup/a/b/memory.current": "100\n",
		}, 600},
		"v1, a part of it mounted elsewhere": {map[string]string{
			"proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc/job\n0::/\n", "proc/self/mountinfo": v1Mount,
			"sys/fs/cgroup/mem/job/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/mem/job/memory.usage_in_bytes": "500\n",
			"sys/fs/cgroup/mem/memory.limit_in_bytes": "4000\n", "sys/fs/cgroup/mem/memory.usage_in_bytes": "1500\n",
			"sys/fs/cgroup/mem/memory.stat": "inactive_file 1\ntotal_inactive_file 500\n",
		}, 3000},
		"v1, nothing said of mounts": {map[string]string{
			"proc/self/cgroup":                               "4:memory:/job\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "4000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":     "1500\n",
			"sys/fs/cgroup/memory/job/memory.stat":           "total_inactive_file\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "x\n",
		}, 2500},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range test.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := available(files); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

// This machine says something that is not absurd.
func TestAvailableHere(t *testing.T) {
	if n := Available(); n < 1<<20 {
		t.Errorf("%d bytes are available to a test that runs", n)
	}
}
