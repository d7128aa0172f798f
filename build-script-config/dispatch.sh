#!/bin/sh
# dispatch.sh OUT USR: builds libdispatch.so of the sources in OUT/source, in OUT/build, with the toolchain USR. Its
# Swift overlay and libBlocksRuntime.so are the toolchain's.
set -e
out=$1 usr=$2
[ -e "$out/build/build.ninja" ] || cmake -G Ninja -S "$out/source" -B "$out/build" -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=YES -DENABLE_SWIFT=NO -DBUILD_TESTING=NO -DENABLE_TESTING=NO \
  '-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -Wl,--build-id=sha1' -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=YES '-DCMAKE_INSTALL_RPATH=$ORIGIN' \
  "-DCMAKE_C_COMPILER=$usr/bin/clang" "-DCMAKE_CXX_COMPILER=$usr/bin/clang++"
ninja -C "$out/build" dispatch
