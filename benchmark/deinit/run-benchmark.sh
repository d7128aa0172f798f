#!/bin/sh
self=$0; [ ! -h "$self" ] || self=$(readlink -f "$self")
exec "${self%/*}/../../utils/runtime_patches/launch" deinit-run "$@"
