#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../../utils/runtime_patches/launch" deinit-run "$@"
