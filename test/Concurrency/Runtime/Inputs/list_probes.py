"""list_probes.py LIBRARY [--places]: prints its probes, one a line: name, number of arguments, and if it has the
semaphore; or the addresses of the probe and of its semaphore.
"""

import re
import subprocess
import sys

text = subprocess.run(["readelf", "-SWn", sys.argv[1]], check=True, capture_output=True, text=True).stdout
probe = r"Provider: swift_concurrency\n +Name: (\S+)\n +Location: (\S+), Base: \S+, Semaphore: (\S+)\n +Arguments:(.*)"
probes = re.findall(probe, text)
assert len({name for name, *_ in probes}) == text.count("Provider: ")
assert len({semaphore for _, _, semaphore, _ in probes}) == 1
section = re.search(r" \.probes +\S+ +(\S+) +\S+ +(\S+)", text)
assert section
begin, size = (int(number, 16) for number in section.groups())
for name, location, semaphore, arguments in probes:
    if sys.argv[2:] == ["--places"]:
        print(name, int(location, 16), int(semaphore, 16))
    else:
        inside = begin <= int(semaphore, 16) < begin + size
        print(name, len(arguments.split()), "semaphore" if inside else "none")
