#!/bin/sh
# observer.sh SWIFT OUT USR LIBRARY: builds libswift_Liveness.so or libswift_Trace.so, whose sources are in /liveness
# and /tracing, in the folder OUT with the toolchain USR, if anything that it is made from has changed. It reads the
# runtime's objects: it is compiled with the headers of the checkout SWIFT and of its build, the folder above OUT, and
# with the flags of that build.
set -e
swift=$1 out=$2 usr=$3 library=$4
case $library in
libswift_Liveness.so) name=liveness ;;
libswift_Trace.so) name=tracing ;;
*) echo "error: observer.sh: no sources of $library are known" >&2 && exit 1 ;;
esac
here=$(cd "$(dirname "$0")/../$name" && pwd) build=$(dirname "$out") concurrency=$swift/stdlib/public/Concurrency
cached() { sed -n "s/^$1:[A-Za-z]*=//p" "$build/CMakeCache.txt"; }
flags="$(cached CMAKE_CXX_FLAGS) $(cached CMAKE_CXX_FLAGS_RELEASE) $(cached TOOLCHAIN_FLAGS | tr ';' ' ')"
target=$(cached CMAKE_CXX_COMPILER_TARGET)
if [ -n "$target" ]; then
  flags="$flags --target=$target --sysroot=$(cached CMAKE_SYSROOT)"
fi
case $target in
aarch64*) ;;
*) flags="$flags -mcx16" ;;
esac
mkdir -p "$out"
key=$( (cat "$0" "$concurrency"/*.h "$swift"/include/swift/ABI/*.h "$swift"/include/swift/Runtime/*.h \
  "$build/CMakeCache.txt" && find "$here" \( -name '*.cpp' -o -name '*.h' \) | LC_ALL=C sort | xargs -d '\n' cat) |
  sha256sum | cut -c 1-16)
[ "$(cat "$out/key" 2>/dev/null)" != "$key" ] || [ ! -e "$out/$library" ] || exit 0

# Never unloaded: its threads run until the process ends.
# shellcheck disable=SC2046,SC2086 # the flags are words
"$usr/bin/clang++" -std=c++17 $flags -D_GNU_SOURCE -DSWIFT_CONCURRENCY_USES_DISPATCH=1 -DSWIFT_THREADING_LINUX \
  -fPIC -fno-rtti -fno-exceptions -funwind-tables -fvisibility=hidden -fvisibility-inlines-hidden -shared \
  -fuse-ld=lld -Wl,--build-id=sha1 -Wl,-z,nodelete "-Wl,-soname,$library" -Wl,-rpath,'$ORIGIN' -I"$here/include" \
  -I"$swift/include" -I"$swift/Runtimes/Core/include" -I"$swift/stdlib/include" -I"$swift/stdlib/public/SwiftShims" \
  -I"$concurrency" -I"$build/include" "$here"/*.cpp -o "$out/partial.so" \
  ${target:+"-ffile-prefix-map=$here=/$name" "-fdebug-compilation-dir=/$name"} \
  $(cached CMAKE_CXX_STANDARD_LIBRARIES)
mv "$out/partial.so" "$out/$library"
echo "$key" >"$out/key"
