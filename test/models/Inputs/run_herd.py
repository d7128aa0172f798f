#!/usr/bin/env python3
"""run_herd.py HERD7 OPTION… FILE: prints what herd7 says of a litmus test, or has said of the same one before."""

import sys
from pathlib import Path

from runtime_patches.base.process import captured
from runtime_patches.testing import models

argv = sys.argv[1:]
version = captured([argv[0], "-version"]).stdout
answers = models.Answers(version + Path(argv[-1]).read_text(encoding="utf-8"))


def ask() -> str:
    done = captured(argv)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


print(answers.get(" ".join(argv[1:-1]), ask))
