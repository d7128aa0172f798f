#!/bin/sh
# liveness.sh SWIFT OUT USR: builds libswift_Liveness.so, whose sources are in /liveness, in the folder OUT with the
# toolchain USR, if anything that it is made from has changed. It reads the runtime's objects: it is compiled with the
# headers of the checkout SWIFT and of its build, the folder above OUT, and with the flags of that build.
set -e
swift=$1 out=$2 usr=$3
here=$(cd "$(dirname "$0")/../liveness" && pwd) build=$(dirname "$out") concurrency=$swift/stdlib/public/Concurrency
flags=$(sed -n 's/^CMAKE_CXX_FLAGS\(_RELEASE\)\{0,1\}:[A-Z]*=//p' "$build/CMakeCache.txt")
mkdir -p "$out"
key=$(cat "$0" "$here"/*.cpp "$here"/*.h "$here"/include/*.h "$concurrency"/*.h "$swift"/include/swift/ABI/*.h \
  "$swift"/include/swift/Runtime/*.h "$build/CMakeCache.txt" | sha256sum | cut -c 1-16)
[ "$(cat "$out/key" 2>/dev/null)" != "$key" ] || [ ! -e "$out/libswift_Liveness.so" ] || exit 0

# Never unloaded: its threads run until the process ends.
# shellcheck disable=SC2086 # the flags are words
"$usr/bin/clang++" -std=c++17 $flags -D_GNU_SOURCE -DSWIFT_CONCURRENCY_USES_DISPATCH=1 -DSWIFT_THREADING_LINUX \
  -fPIC -fno-rtti -fno-exceptions -funwind-tables -mcx16 -fvisibility=hidden -fvisibility-inlines-hidden -shared \
  -fuse-ld=lld -Wl,-z,nodelete -Wl,-soname,libswift_Liveness.so -Wl,-rpath,'$ORIGIN' -I"$here/include" \
  -I"$swift/include" -I"$swift/Runtimes/Core/include" -I"$swift/stdlib/include" -I"$swift/stdlib/public/SwiftShims" \
  -I"$concurrency" -I"$build/include" "$here"/*.cpp -o "$out/partial.so"
mv "$out/partial.so" "$out/libswift_Liveness.so"
echo "$key" >"$out/key"
