#!/bin/sh
# dispatch.sh OUT USR: builds libdispatch.so of the sources in OUT/source, in OUT/build, with the toolchain USR, for the
# system that the build in the folder above OUT is for. Its Swift overlay and libBlocksRuntime.so are the toolchain's.
set -e
out=$1 usr=$2 build=$(dirname "$1")
cached() { sed -n "s/^$1:[A-Za-z]*=//p" "$build/CMakeCache.txt"; }
target=$(cached CMAKE_C_COMPILER_TARGET)
set --
if [ -n "$target" ]; then
  set -- -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=${target%%-*}" "-DCMAKE_SYSROOT=$(cached CMAKE_SYSROOT)" \
    "-DCMAKE_C_COMPILER_TARGET=$target" "-DCMAKE_CXX_COMPILER_TARGET=$target" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    "-DCMAKE_C_FLAGS=$(cached CMAKE_C_FLAGS)" "-DCMAKE_CXX_FLAGS=$(cached CMAKE_CXX_FLAGS)"
fi
[ -e "$out/build/build.ninja" ] || cmake -G Ninja -S "$out/source" -B "$out/build" -DCMAKE_BUILD_TYPE=Release \
  -DBUILD_SHARED_LIBS=YES -DENABLE_SWIFT=NO -DBUILD_TESTING=NO -DENABLE_TESTING=NO \
  '-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -Wl,--build-id=sha1' -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=YES '-DCMAKE_INSTALL_RPATH=$ORIGIN' \
  "-DCMAKE_C_COMPILER=$usr/bin/clang" "-DCMAKE_CXX_COMPILER=$usr/bin/clang++" "$@"
ninja -C "$out/build" dispatch
