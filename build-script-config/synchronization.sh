#!/bin/sh
# synchronization.sh SWIFT OUT USR: builds libswiftSynchronization.so of the checkout SWIFT in the folder OUT with the
# toolchain USR, if its sources have changed. 6.2.3 has no project for it below Runtimes/.
#
# The options are those of the toolchain's own library (its .swiftinterface, and AddSwiftStdlib.cmake): what comes out
# exports the same symbols, and functions that no patch touches have the same instructions. Those for the whole build,
# such as its alignment of functions, are in the cache of CMake in the folder above OUT.
set -e
swift=$1 out=$2 usr=$3 build=$(dirname "$2")
cached() { sed -n "s/^$1:[A-Za-z]*=//p" "$build/CMakeCache.txt"; }
resources=$(cached RESOURCES) target=$(cached CMAKE_Swift_COMPILER_TARGET)
sync=$swift/stdlib/public/Synchronization shims=$swift/stdlib/public/SwiftShims/swift/shims
mkdir -p "$out"
key=$(cat "$0" "$sync"/*.swift "$sync"/*/*.swift "$sync"/*/*.gyb "$shims"/* "$swift/utils/availability-macros.def" \
  "$build/CMakeCache.txt" "$usr/bin/swiftc" 2>/dev/null | sha256sum | cut -c 1-16)
[ "$(cat "$out/key" 2>/dev/null)" != "$key" ] || [ ! -e "$out/libswiftSynchronization.so" ] || exit 0

for name in AtomicIntegers AtomicStorage; do
  python3 "$swift/utils/gyb.py" -DCMAKE_SIZEOF_VOID_P=8 --line-directive '' \
    "$sync/Atomics/$name.swift.gyb" -o "$out/$name.swift"
done
sed -n 's/#.*//; s/ *$//; /./p' "$swift/utils/availability-macros.def" |
  sed 's/.*/-Xfrontend -define-availability -Xfrontend "&"/' >"$out/availability.rsp"

set --
for feature in NoncopyableGenerics2 SuppressedAssociatedTypes SE427NoInferenceOnExtension NonescapableTypes \
  LifetimeDependence InoutLifetimeDependence LifetimeDependenceMutableAccessors RawLayout StaticExclusiveOnly Extern; do
  set -- "$@" -enable-experimental-feature $feature
done
for option in -disable-autolinking-runtime-compatibility-concurrency -disable-implicit-concurrency-module-import \
  -disable-implicit-string-processing-module-import -enable-lexical-lifetimes=false -enforce-exclusivity=unchecked \
  -target-min-inlining-version min -disable-objc-interop -prespecialize-generic-metadata -empty-abi-descriptor; do
  set -- "$@" -Xfrontend $option
done
# The checkout's shims, not the toolchain's: a patch may change them.
# shellcheck disable=SC2046 # the flags are words
"$usr/bin/swiftc" -c -parse-as-library -wmo -O -swift-version 5 -module-name Synchronization \
  -module-link-name swiftSynchronization "@$out/availability.rsp" -library-level api -enable-library-evolution \
  -enable-builtin-module -strict-memory-safety -suppress-warnings -runtime-compatibility-version none \
  -no-link-objc-runtime -disable-autolinking-runtime-compatibility-dynamic-replacements "$@" \
  -enable-upcoming-feature MemberImportVisibility -Xcc "-fmodule-map-file=$shims/module.modulemap" \
  -Xcc -fno-omit-frame-pointer ${target:+-target "$target"} $(cached CMAKE_Swift_FLAGS) \
  "$sync"/Atomics/*.swift "$sync/Cell.swift" "$sync"/Mutex/LinuxImpl.swift "$sync"/Mutex/Mutex.swift \
  "$sync"/Mutex/SpinLoopHint.swift "$out/AtomicIntegers.swift" "$out/AtomicStorage.swift" -o "$out/Synchronization.o"
# shellcheck disable=SC2046
"$usr/bin/clang++" -shared -fuse-ld=lld -o "$out/partial.so" -Wl,-soname,libswiftSynchronization.so \
  -Wl,-rpath,'$ORIGIN' ${target:+"--target=$target" "--sysroot=$(cached CMAKE_SYSROOT)"} "$out/Synchronization.o" \
  "$build/runtime/CMakeFiles/swiftrt.dir/SwiftRT-ELF-WASM.cpp.o" $(cached CMAKE_SHARED_LINKER_FLAGS) \
  -L"${resources:-$usr/lib/swift}/linux" -lswiftGlibc -lswiftCore
mv "$out/partial.so" "$out/libswiftSynchronization.so"
echo "$key" >"$out/key"
