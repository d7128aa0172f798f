#!/bin/sh
# Installs the libraries of this package where programs find them, and removes them again. What is replaced is kept in
# TARGET/.swift-runtime-patches, with a list of what was installed.
set -u
export LC_ALL=C
unset CDPATH
# Whoever installs it, all users' programs read it.
umask 022

usage() {
  cat <<'END'
usage: install.sh --into DIR [--swift LIB] [--undo]
       install.sh --static USR [--undo]

Installs the libraries of this package: the Swift runtime with a series of patches.

  --into DIR     shared libraries into DIR, for LD_LIBRARY_PATH: programs that link Swift dynamically use them
  --static USR   static libraries over those of the toolchain whose usr folder is USR: programs that it links with
                 -static-stdlib from then on have them
  --swift LIB    the folder of the Swift libraries that are there, which must be of the same version
                 (default: /usr/lib/swift/linux or /usr/libexec/swift/lib/swift/linux)
  --undo         removes them again, and restores what was there; what others have changed since stays

Everything is checked first; on an error nothing is changed.
exit status: 0 done, or nothing to do; 1 it does not fit, or an error; 2 bad usage
END
}

# Also from where the errors of commands are dropped.
exec 3>&2
fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&3
  exit "${3:-1}"
}

# absolute PATH: seen from here. $(pwd) would lose a line's end.
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s/%s' "$PWD" "$1" ;; esac }

for tool in grep sed sha256sum sort uniq od; do
  command -v "$tool" >/dev/null ||
    fail "$tool is not installed" "apt-get install coreutils grep sed, or dnf install them"
done
here=$(cd "$(dirname "$0")" && pwd) || exit 1
mode='' target='' undo='' runtime=''
while [ $# -gt 0 ]; do
  case $1 in
  -h | --help) usage && exit ;;
  --undo) undo=1 ;;
  --into | --static)
    [ $# -gt 1 ] || fail "$1 needs a folder" "install.sh --help" 2
    [ -z "$mode" ] || fail "$1: --$mode is given, too" "install.sh --help" 2
    mode=${1#--} target=$2 && shift
    ;;
  --swift)
    [ $# -gt 1 ] || fail "$1 needs a folder" "install.sh --help" 2
    [ -f "$2/libswiftCore.so" ] || fail "$2 has no libswiftCore.so" "give the folder of the Swift libraries" 2
    runtime=$(absolute "$2") && shift
    ;;
  *) fail "unknown argument '$1'" "install.sh --help" 2 ;;
  esac
  shift
done
[ -n "$mode" ] || fail "nothing to do is given" "install.sh --help" 2
[ -n "$target" ] || fail "--$mode needs a folder" "install.sh --help" 2
target=$(absolute "$target")
undo_it="install.sh --$mode '$(printf '%s' "$target" | sed "s/'/'\\\\''/g")' --undo"
if [ "$mode" = static ]; then
  usr=$target target=$target/lib/swift_static/linux
else
  case $target in
  *[:\;]*) fail "the path $target separates library paths" "give a folder whose path has no : and no ;" 2 ;;
  esac
fi
state=$target/.swift-runtime-patches

# field NAME: a value in the manifest, which has one in a line.
field() { sed -n "s/^ *\"$1\": \"\([^\"]*\)\",*$/\1/p" "${2:-$here/manifest.json}" 2>/dev/null | sed -n 1p; }
sum() { { sha256sum <"$1"; } 2>/dev/null | cut -d ' ' -f 1; }
# is_older A B: whether version A is older than B.
is_older() {
  [ "$1" != "$2" ] || return 1
  [ "$(printf '%s\n' "$1" "$2" | sort -t . -k 1,1n -k 2,2n -k 3,3n | sed -n 1p)" = "$1" ]
}

# exists FILE: also if it is a link that leads nowhere.
exists() { [ -e "$1" ] || [ -L "$1" ]; }
# Nobody else installs or undoes there until this process has ended, however it ends.
lock() {
  command -v flock >/dev/null && [ -r "$target" ] || return 0
  exec 9<"$target"
  flock -n 9 || [ $? != 1 ] || fail "another install.sh works in $target" "wait until it has ended"
}
# keep FILE NAME: the file by another name, which takes no room, or a copy.
keep() { ln -P "$1" "$2" 2>/dev/null || cp -pP "$1" "$2"; }
put_back() { rm -f "$state/new/$1" && keep "$state/backup/$1" "$state/new/$1" && mv -f "$state/new/$1" "$target/$1"; }
# is_back FILE: whether it is what was there. A link may lead elsewhere from the backup.
is_back() {
  if [ -L "$target/$1" ]; then
    [ "$(readlink "$target/$1")" = "$(readlink "$state/backup/$1")" ]
  else
    [ "$(sum "$target/$1")" = "$(sum "$state/backup/$1")" ]
  fi
}

# Whenever it is killed, it can begin again. The list gets its name when all that it names is backed up.
restore() {
  trap '' HUP INT TERM
  rm -f "$state/done"
  [ ! -e "$state/files" ] || while read -r digest name; do
    if exists "$target/$name" && [ "$(sum "$target/$name")" != "$digest" ] && ! is_back "$name"; then
      # A toolchain that was upgraded: what it had before does not go with the rest of it.
      printf '%s\n' "$target/$name was changed by others: it stays, and no backup of it is kept"
    elif exists "$state/backup/$name"; then
      put_back "$name" 2>/dev/null || is_back "$name" ||
        fail "$target/$name cannot be put back" "see who owns $target, and whether the disk is full"
    else
      rm -f "$target/$name" || fail "$target/$name cannot be removed" "check who owns $target"
    fi
  done <"$state/files"
  # By one step: nobody goes on from half of it.
  mv "$state" "$state.old" && discard || fail "$state cannot be removed" "check who owns $target"
}
discard() {
  created=$(cat "$state.old/created" 2>/dev/null)
  rm -rf "$state.old" || return
  [ -z "$created" ] || rmdir "$target" 2>/dev/null || :
}

# link_again: SwiftPM does not see that an archive has changed.
link_again() {
  [ "$mode" != static ] || echo "remove programs that are built already: SwiftPM would not link them again"
}
removed() {
  printf '%s\n' "removed from $target"
  link_again
  exit
}
if [ -n "$undo" ]; then
  lock
  if [ ! -e "$state" ] && [ -e "$state.old" ]; then
    discard
    removed
  fi
  [ -e "$state" ] || fail "nothing of this kind is installed in $target" "give the folder of the installation"
  [ -w "$target" ] && [ -w "$state" ] || fail "$target cannot be written to" "run this as the owner of the folder"
  if [ -f "$state/done" ]; then
    [ -f "$state/files" ] && [ -d "$state/backup" ] || fail "$state is not whole: what was in $target is not known" \
      "copy the libraries that belong there again, and remove $state"
  fi
  restore
  removed
fi

# The package: whole, and for this machine.
for name in SHA256SUMS manifest.json; do
  [ -f "$here/$name" ] || fail "this package is not whole: $name is missing" "unpack the archive again"
done
if ! broken=$(cd "$here" && sha256sum -c SHA256SUMS 2>/dev/null); then
  broken=$(printf '%s\n' "$broken" | sed -n 's/: FAILED.*//p' | sed -n 1p)
  fail "this package is not whole: ${broken:-SHA256SUMS} is missing or damaged" "unpack the archive again"
fi
if [ "$mode" = into ]; then folder=lib; else folder=static; fi
names=$(sed -n "s|^ *\"$folder/\([^\"]*\)\": .*|\1|p" "$here/manifest.json")
[ -n "$names" ] || fail "this package is not whole: manifest.json names no files in $folder/" "unpack the archive again"
for name in $names; do
  grep -q " $folder/$name\$" "$here/SHA256SUMS" ||
    fail "this package is not whole: SHA256SUMS does not name $folder/$name" "unpack the archive again"
done
swift=$(field swift) series="version $(field version) (series $(field series))" processor=$(field processor)
glibc=$(field GLIBC) glibcxx=$(field GLIBCXX)

[ "$(uname -m)" = "$processor" ] || fail "this package is for $processor, this system is $(uname -m)" \
  "take the package for this architecture"
there=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc //p')
[ -n "$there" ] || there=$(ldd --version 2>/dev/null | sed -n '1s/.* \([0-9][0-9.]*\)$/\1/p')
[ -n "$there" ] || fail "this system has no GNU C library" "Swift's own images have it; musl is another library"
! is_older "$there" "$glibc" || fail "the C library here is glibc $there, $glibc is needed" \
  "take an image that is not older than Ubuntu 22.04, Debian 12 or Amazon Linux 2023"
for place in /usr/lib/"$processor"-linux-gnu /usr/lib64 /lib/"$processor"-linux-gnu /lib64 /usr/lib; do
  [ -e "$place/libstdc++.so.6" ] && break
done
[ -e "$place/libstdc++.so.6" ] ||
  fail "libstdc++.so.6 is not installed" "apt-get install libstdc++6, or dnf install libstdc++"
grep -aq "GLIBCXX_$glibcxx" "$place/libstdc++.so.6" || fail "$place/libstdc++.so.6 has no GLIBCXX_$glibcxx" \
  "take an image that is not older than Ubuntu 22.04, Debian 12 or Amazon Linux 2023"

# The Swift that is there.
# version LIB: the version that the modules in the folder LIB (lib/swift/linux) are of, if it holds some.
version() {
  sed -n 's|^// swift-compiler-version:.*Swift version \([0-9.]*[0-9]\).*|\1|p' \
    "$1"/Swift.swiftmodule/*.swiftinterface 2>/dev/null | sed -n 1p
}
# strings FILE: the names that a library tells the loader. Swift's own images have libraries with many more: theirs are
# not stripped.
strings() {
  sections=$(od -An -t u8 -j 40 -N 8 "$1") count=$(od -An -t u2 -j 60 -N 2 "$1")
  od -An -v -t u8 -w64 -j $((sections)) -N $((64 * count)) "$1" | while read -r kind flags address offset size rest; do
    # A table of strings that is loaded.
    [ $((kind >> 32)) != 3 ] || [ $((flags & 2)) = 0 ] || tail -c "+$((offset + 1))" "$1" | head -c "$size"
  done
}
# different LIB: how many Swift symbols only one of its runtime and this package has.
different() {
  for file in libswiftCore.so libswift_Concurrency.so; do
    for folder in "$here/lib" "$1"; do
      strings "$folder/$file" 2>/dev/null | grep -aoE '\$s[0-9A-Za-z_]{4,}' | sort -u
    done | sort | uniq -u
  done | wc -l
}
if [ "$mode" = static ]; then
  [ -d "$usr" ] || fail "there is no folder $usr" "give the usr folder of a Swift $swift toolchain"
  for name in $names; do
    [ -f "$target/$name" ] || fail "$usr is no toolchain with static libraries: it has no lib/swift_static/linux/$name" \
      "give the usr folder of a Swift $swift toolchain"
  done
  found=$(version "$target")
  [ -n "$found" ] || found=$(version "$usr/lib/swift/linux")
  [ -n "$found" ] || fail "$usr does not say which version of Swift it is" "give the usr folder of a whole toolchain"
  [ "$found" = "$swift" ] || fail "$usr is Swift $found, this package is for $swift" "take the package for Swift $found"
else
  for place in /usr/lib/swift/linux /usr/libexec/swift/lib/swift/linux; do
    if [ -z "$runtime" ] && [ -f "$place/libswiftCore.so" ]; then runtime=$place; fi
  done
  if [ -n "$runtime" ]; then
    found=$(version "$runtime")
    if [ -n "$found" ]; then
      [ "$found" = "$swift" ] ||
        fail "the runtime in $runtime is Swift $found, this package is for $swift" "take the package for Swift $found"
    else
      count=$(different "$runtime")
      # 6 with the same version, which another linker has written; 512 with 6.0.3, 152 with 6.3.1.
      [ "$count" -lt 50 ] ||
        fail "the runtime in $runtime is not Swift $swift: $count of its symbols and this package's differ" \
          "take the package for that version of Swift"
    fi
  fi
fi

# What is in the target.
created='' begun=''
interrupted() {
  trap '' HUP INT TERM
  [ -z "$begun" ] || [ ! -e "$state" ] || restore
  [ -z "$created" ] || rmdir "$target" 2>/dev/null
  fail "interrupted" "nothing was changed; the same command begins again" "$1"
}
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
if [ ! -d "$target" ]; then
  created=1
  mkdir -p "$target" 2>/dev/null || fail "$target cannot be made" "give a folder that you can write to"
fi
lock
if [ -e "$state" ]; then
  if [ ! -f "$state/done" ]; then
    fail "an installation in $target was interrupted" "$undo_it, then again"
  fi
  if [ "$(sum "$state/manifest.json")" = "$(sum "$here/manifest.json")" ]; then
    while read -r digest name; do
      [ "$(sum "$target/$name")" = "$digest" ] ||
        fail "$target/$name has changed since it was installed" "$undo_it, then again"
    done <"$state/files"
    printf '%s\n' "$series is installed in $target already"
    exit
  fi
  other="version $(field version "$state/manifest.json") (series $(field series "$state/manifest.json"))"
  fail "$other is installed in $target" "$undo_it, then again"
fi
for name in $names; do
  [ ! -d "$target/$name" ] || fail "$target/$name is a folder" "give another folder"
done
[ ! -e "$state.old" ] || rm -rf "$state.old"
begun=1
if ! mkdir "$state" 2>/dev/null; then
  [ -z "$created" ] || rmdir "$target" 2>/dev/null
  fail "$target cannot be written to" "run this as the owner of the folder, or give another one"
fi

# Written beside what is there, then exchanged: no program finds half a file.
give_up() {
  restore
  fail "$1 cannot be written" "see whether the disk is full, and who owns the file; nothing was changed"
}
[ -z "$created" ] || echo 1 >"$state/created"
{
  for name in $names; do
    printf '%s  %s\n' "$(sed -n "s|^\([0-9a-f]*\)  $folder/$name\$|\1|p" "$here/SHA256SUMS")" "$name"
  done >"$state/files.partial" && mkdir "$state/new" "$state/backup" && cp "$here/manifest.json" "$here/LICENSE" "$state/"
} 2>/dev/null || give_up "$state"
for name in $names; do
  cp "$here/$folder/$name" "$state/new/$name" 2>/dev/null || give_up "$target/$name"
done
# Also if the package was unpacked for its owner alone.
chmod -R a+rX "$state"
for name in $names; do
  if exists "$target/$name"; then
    keep "$target/$name" "$state/backup/$name" 2>/dev/null || give_up "$state"
  fi
done
mv "$state/files.partial" "$state/files" || give_up "$state"
for name in $names; do
  mv -f "$state/new/$name" "$target/$name" 2>/dev/null || give_up "$target/$name"
done
# Not `:`, a special builtin: dash ends where its redirection fails.
true 2>/dev/null >"$state/done" || give_up "$state"
trap - HUP INT TERM
printf '%s\n' "$series for Swift $swift is installed in $target"
link_again
if [ "$mode" = into ]; then
  printf '%s\n' "programs find it with LD_LIBRARY_PATH=$target:${runtime:-FOLDER OF THE OTHER SWIFT LIBRARIES}"
fi
