import tempfile
import unittest
from pathlib import Path

from . import memory

GB = 1 << 30
FILES = {
    "proc/meminfo": f"MemTotal: {16 * GB >> 10} kB\nMemAvailable: {8 * GB >> 10} kB\nHugePages_Total: 0\n",
    "proc/self/cgroup": "4:memory:/box\n2:cpu,cpuacct:/box\n1:name=systemd:/\n0::/box/inner\n",
}


class Available(unittest.TestCase):
    def available(self, more: dict[str, str]) -> float:
        with tempfile.TemporaryDirectory() as place:
            for name, text in {**FILES, **more}.items():
                path = Path(place, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return memory.available(Path(place)) / GB

    def test_without_limits(self) -> None:
        unlimited = {"sys/fs/cgroup/box/memory.max": "max\n", "sys/fs/cgroup/box/memory.current": "1\n"}
        self.assertEqual(self.available({}), 8)
        self.assertEqual(self.available(unlimited), 8)

    def test_a_group_around_ours(self) -> None:
        """What it has cached of files is free."""
        group = "sys/fs/cgroup/box/memory."
        stat = f"anon {2 * GB}\nactive_file 0\ninactive_file {GB}\n"
        limits = {f"{group}max": f"{4 * GB}\n", f"{group}current": f"{3 * GB}\n", f"{group}stat": stat}
        self.assertEqual(self.available(limits), 2)

    def test_a_container_of_version_1(self) -> None:
        group = "sys/fs/cgroup/memory/memory."
        limits = {f"{group}limit_in_bytes": f"{4 * GB}\n", f"{group}usage_in_bytes": f"{3 * GB}\n"}
        stat = f"active_file 0\ninactive_file 0\ntotal_active_file {GB}\ntotal_inactive_file {GB}\n"
        self.assertEqual(self.available({**limits, f"{group}stat": stat}), 3)
