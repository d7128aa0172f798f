#!/usr/bin/env python3
"""browse.py CHROMIUM PAGE: opens the page in headless Chromium, 400 and 1400 px wide, light
and dark, and prints what is wrong with it."""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Looks at the page as it is laid out. The page itself has no script, and forbids them.
LOOK = """<script>
const found = {}, light = rgb => {
  const [r, g, b] = rgb.map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const colour = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number);
document.querySelectorAll('details').forEach(one => one.open = true);
found.width = innerWidth;
found.scroll = document.documentElement.scrollWidth;
const seen = one => one.getClientRects().length > 0 && one.getBoundingClientRect().width > 0;
found.plots = [...document.querySelectorAll('figure.plot > svg')].filter(seen).length;
found.samples = [...document.querySelectorAll('svg.samples')].filter(seen).length;
found.narrow = [...document.querySelectorAll('figure.plot > svg, svg.samples')].filter(
  one => one.getBoundingClientRect().width < 200).length;
found.outside = [...document.querySelectorAll('main *')].filter(one => seen(one) &&
  !one.closest('.scroll') && !one.closest('thead, .hidden') &&
  (one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1)).length;
const paper = light(colour(getComputedStyle(document.body).backgroundColor));
found.dark = paper < .2;
found.contrast = Math.min(...[...document.querySelectorAll('body *')].filter(one => seen(one) &&
    [...one.childNodes].some(node => node.nodeType == 3 && node.data.trim())).map(one => {
  const style = getComputedStyle(one);
  const own = light(colour(one instanceof SVGElement ? style.fill : style.color));
  return (Math.max(own, paper) + .05) / (Math.min(own, paper) + .05);
}));
const order = [...document.querySelectorAll('a, input, summary, [tabindex]')];
found.reachable = order.length > 0 && order.every(one => one.tabIndex >= 0);
parent.postMessage('[found]' + JSON.stringify(found) + '[end]', '*');
</script></body>"""

# A window is never narrower than 500 px in some versions; a frame can be.
FRAME = """<body style="margin: 0"><script>
onmessage = message => document.body.textContent = message.data;
</script><iframe src="{}" style="border: 0; width: {}px; height: 900px"></iframe></body>"""


def browse(chromium: str, page: Path, width: int, theme: str, folder: Path) -> Any:
    text = page.read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    text = text.replace(' id="theme-auto" checked', ' id="theme-auto"').replace(
        f' id="theme-{theme}"', f' id="theme-{theme}" checked'
    )
    probe = folder / f"{theme}-{width}.html"
    probe.write_text(text.replace("</body>", LOOK), encoding="utf-8")
    outer = folder / f"{theme}-{width}-frame.html"
    outer.write_text(FRAME.format(probe.name, width), encoding="utf-8")
    done = start(
        chromium, folder, "--dump-dom", "--window-size=1500,900", "--virtual-time-budget=10000", outer.as_uri()
    )
    answer = re.search(r"\[found\](.*)\[end\]", done.stdout, re.S)
    if not answer:
        sys.exit(f"chromium did not show the page:\n{done.stderr[-2000:]}")
    return json.loads(html.unescape(answer[1]))


def start(chromium: str, folder: Path, *options: str) -> Any:
    quiet = "--headless --no-sandbox --disable-gpu --enable-logging=stderr --hide-scrollbars".split()
    argv = [chromium, *quiet, f"--user-data-dir={folder}/profile", *options]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120)


chromium, page = sys.argv[1], Path(sys.argv[2]).resolve()
faults = []
with tempfile.TemporaryDirectory() as scratch:
    folder = Path(scratch)
    for width in (400, 1400):
        for theme in ("light", "dark"):
            found = browse(chromium, page, width, theme, folder)
            where = f"{width} px, {theme}"
            print(f"{where}: {found['plots']} plots, {found['samples']} charts of samples")
            for bad, words in (
                (found["width"] != width, f"the window is {found['width']} wide"),
                (found["scroll"] > width, f"the page is {found['scroll']} px wide"),
                (found["outside"], f"{found['outside']} parts stick out"),
                (found["narrow"], f"{found['narrow']} charts below 200 px"),
                (found["dark"] != (theme == "dark"), "wrong background"),
                (found["contrast"] < 4.5, f"text with a contrast of {found['contrast']:.1f}"),
                (not found["reachable"], "something cannot be reached by keyboard"),
            ):
                if bad:
                    faults.append(f"{where}: {words}")
    # The page as it is: nothing on the console, and it prints.
    done = start(chromium, folder, f"--print-to-pdf={folder}/page.pdf", page.as_uri())
    faults += re.findall(r".*CONSOLE.*", done.stderr)
    if not (folder / "page.pdf").exists() or (folder / "page.pdf").stat().st_size < 20000:
        faults.append("it does not print")
print("\n".join(faults) or "nothing is wrong")
sys.exit(bool(faults))
