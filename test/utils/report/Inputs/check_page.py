#!/usr/bin/env python3
"""check_page.py FILE: one whole HTML file, that needs nothing else. Prints what it shows."""

import re
import sys

VOID = {"meta", "input", "br", "link", "img", "hr"}
FOREIGN = {"src", "srcset", "data", "action", "xlink:href", "background", "poster", "style"}

text = open(sys.argv[1], encoding="utf-8").read()
opened, ids, links, tags, faults, unnamed = [], [], [], set(), [], 0
for closing, tag, attributes, empty in re.findall(r"<(/?)([a-z]\w*)([^<>]*?)(/?)>", text):
    tags.add(tag)
    if closing and (not opened or opened.pop() != tag):
        faults.append(f"</{tag}> closes nothing")
    elif not closing and not empty and tag not in VOID:
        opened.append(tag)
    values = dict(re.findall(r'([\w:-]+)="([^"]*)"', attributes))
    faults += [f"<{tag} {name}>" for name in values if name in FOREIGN or name.startswith("on")]
    ids += [values["id"]] if "id" in values else []
    links += [values["href"]] if "href" in values else []
    unnamed += tag == "svg" and not closing and not (values.get("aria-label") or values.get("aria-hidden"))
faults += [f"<{tag}> is left open" for tag in opened]
faults += [f"<{tag}>" for tag in ("script", "link", "iframe", "object", "embed", "img", "b") if tag in tags]
faults += [f"{link} leads out of the page" for link in links if not link.startswith("#")]
faults += [f"{link} leads nowhere" for link in links if link[1:] not in ids]
faults += [f"id {one} twice" for one in {one for one in ids if ids.count(one) > 1}]
faults += [f"'{found}'" for found in re.findall(r"https?://\S*|@import|url\(", text)]
faults += [f"{unnamed} charts without words"] * bool(unnamed)
faults += [
    f"'{found}' in a chart"
    for found in {m for d in re.findall(r' d="([^"]*)"', text) for m in re.findall(r"nan|inf|e[+-]", d)}
]
print("\n".join(faults) or "whole, and needs nothing else")
for name, pattern in (("charts of samples", r'class="samples"'), ("plots", r'class="plot"'), ("tables", r"<table")):
    print(f"{name}: {len(re.findall(pattern, text))}")
print("sections:", *(one for one in ids if f'section id="{one}"' in text))
sys.exit(bool(faults))
