#!/usr/bin/env python3
import os, sys; launch = os.path.dirname(os.path.realpath(__file__)) + "/../../utils/runtime_patches/launch"; os.execv(launch, [launch, "benchmark/deinit/regression", *sys.argv[1:]])
