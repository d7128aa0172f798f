#!/bin/sh
self=$0; [ -f "${self%/*}/../../utils/runtime_patches/launch" ] || self=$(readlink -f "$self")
exec "${self%/*}/../../utils/runtime_patches/launch" benchmark/deinit/run-benchmark "$@"
