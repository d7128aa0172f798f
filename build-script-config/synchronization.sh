#!/bin/sh
# synchronization.sh SWIFT OUT USR: builds libswiftSynchronization.so of the checkout SWIFT in the folder OUT with the
# toolchain USR, if its sources have changed. 6.2.3 has no project for it below Runtimes/.
#
# The options are those of the toolchain's own library (its .swiftinterface, and AddSwiftStdlib.cmake): what comes out
# exports the same symbols, and functions that no patch touches have the same instructions. Functions stand on cache
# lines of their own, as in the other libraries.
set -e
swift=$1 out=$2 usr=$3
sync=$swift/stdlib/public/Synchronization shims=$swift/stdlib/public/SwiftShims/swift/shims
mkdir -p "$out"
key=$(cat "$0" "$sync"/*.swift "$sync"/*/*.swift "$sync"/*/*.gyb "$shims"/* "$swift/utils/availability-macros.def" \
  "$usr/bin/swiftc" 2>/dev/null | sha256sum | cut -c 1-16)
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
"$usr/bin/swiftc" -c -parse-as-library -wmo -O -swift-version 5 -module-name Synchronization \
  -module-link-name swiftSynchronization "@$out/availability.rsp" -library-level api -enable-library-evolution \
  -enable-builtin-module -strict-memory-safety -suppress-warnings -runtime-compatibility-version none \
  -no-link-objc-runtime -disable-autolinking-runtime-compatibility-dynamic-replacements "$@" \
  -enable-upcoming-feature MemberImportVisibility -Xcc "-fmodule-map-file=$shims/module.modulemap" \
  -Xcc -fno-omit-frame-pointer -Xllvm -align-all-functions=6 \
  "$sync"/Atomics/*.swift "$sync/Cell.swift" "$sync"/Mutex/LinuxImpl.swift "$sync"/Mutex/Mutex.swift \
  "$sync"/Mutex/SpinLoopHint.swift "$out/AtomicIntegers.swift" "$out/AtomicStorage.swift" -o "$out/Synchronization.o"
"$usr/bin/clang++" -shared -fuse-ld=lld -o "$out/partial.so" -Wl,-soname,libswiftSynchronization.so \
  -Wl,-rpath,'$ORIGIN' "$out/Synchronization.o" "$usr/lib/swift/linux/$(uname -m)/swiftrt.o" \
  -L"$usr/lib/swift/linux" -lswiftGlibc -lswiftCore
mv "$out/partial.so" "$out/libswiftSynchronization.so"
echo "$key" >"$out/key"
