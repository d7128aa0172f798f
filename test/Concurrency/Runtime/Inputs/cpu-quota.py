"""Made-up cgroups: a folder for each case, with the files at their own paths."""

import sys
from pathlib import Path

UNIFIED, OLD = "sys/fs/cgroup", "sys/fs/cgroup/cpu"
CASES: dict[str, dict[str, str]] = {
    "none": {},
    "empty": {"proc/self/cgroup": ""},
    "unlimited": {"proc/self/cgroup": "0::/\n", f"{UNIFIED}/cpu.max": "max 100000\n"},
    "rounded-up": {"proc/self/cgroup": "0::/a\n", f"{UNIFIED}/a/cpu.max": "250000 100000\n"},
    "small": {"proc/self/cgroup": "0::/\n", f"{UNIFIED}/cpu.max": "10000 100000\n"},
    "large": {"proc/self/cgroup": "0::/\n", f"{UNIFIED}/cpu.max": "6400000 100000\n"},
    # The outer group has the smaller quota, and the inner one none of its own.
    "outer": {
        "proc/self/cgroup": "0::/outer/middle/inner\n",
        f"{UNIFIED}/outer/cpu.max": "300000 100000\n",
        f"{UNIFIED}/outer/middle/cpu.max": "600000 100000\n",
        f"{UNIFIED}/outer/middle/inner/cpu.max": "max 100000\n",
    },
    # In a container the path is that of the host, and the group is at the root.
    "container": {"proc/self/cgroup": "0::/system.slice/docker-1.scope\n", f"{UNIFIED}/cpu.max": "300000 100000\n"},
    "broken": {
        "proc/self/cgroup": "nothing\n:\n0:\n0::\n0::/a\n" + "7:cpu:/" + "x" * 5000 + "\n",
        f"{UNIFIED}/cpu.max": "many of them\n",
        f"{UNIFIED}/a/cpu.max": "-5 0\n",
        f"{OLD}/cpu.cfs_quota_us": "",
        f"{OLD}/cpu.cfs_period_us": "0\n",
    },
    "old": {
        "proc/self/cgroup": "3:cpuset:/other\n2:cpuacct:/other\n1:cpu:/mine\n0::/\n",
        f"{OLD}/mine/cpu.cfs_quota_us": "300000\n",
        f"{OLD}/mine/cpu.cfs_period_us": "100000\n",
        f"{OLD}/cpu.cfs_quota_us": "-1\n",
        f"{OLD}/cpu.cfs_period_us": "100000\n",
        # Not of the controller of processor time.
        f"{OLD}/other/cpu.cfs_quota_us": "100000\n",
        f"{OLD}/other/cpu.cfs_period_us": "100000\n",
    },
    "old-together": {
        "proc/self/cgroup": "1:cpu,cpuacct:/mine\n",
        f"{OLD}/mine/cpu.cfs_quota_us": "150000\n",
        f"{OLD}/mine/cpu.cfs_period_us": "50000\n",
    },
}

# Cases whose files the program changes.
for case in ("follows", "blocks", "idle"):
    CASES[case] = CASES["rounded-up"]

for case, texts in CASES.items():
    for name, text in texts.items():
        path = Path(sys.argv[1], case, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
