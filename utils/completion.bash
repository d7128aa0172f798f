# Completion for bash: `. utils/completion.bash`, in a shell or in ~/.bashrc.
#
# Options come from each command's --help, names from patches/series and build/.

_runtime_patches_repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

_runtime_patches() {
  local repo=$_runtime_patches_repo command cur prev before words
  COMPREPLY=()
  command=$(readlink -f "$(command -v -- "$1")") || return
  # Others have commands of these names, too.
  case $command in "$repo"/utils/* | "$repo"/benchmark/*) ;; *) return ;; esac

  # As typed: bash would split `upto:PATCH` at the colon.
  before=${COMP_LINE:0:COMP_POINT}
  cur=${before##*[[:space:]]}
  read -ra words <<<"${before%"$cur"}"
  prev=${words[${#words[@]} - 1]}
  # Of the options that take several names the last one counts.
  local word
  for word in "${words[@]}"; do
    case $word in
      --only | --upstream | --clean | --configurations) prev=$word ;;
      -*) prev=${words[${#words[@]} - 1]} ;;
    esac
  done

  if [[ ${command##*/} == with-runtime && " ${words[*]} " == *" -- "* ]]; then
    compopt -o default
    return
  fi
  local patches names
  patches=$(sed 's/#.*//' "$repo/patches/series")
  names="stock before after asan tsan ubsan debug before-asan before-tsan before-ubsan before-debug"
  names+=" $(printf 'upto:%s ' $patches)"
  local choices=
  if [[ $cur == -* ]]; then
    choices=$("$command" --help 2>/dev/null | sed '/^examples:/,$d' |
      grep -oE -- '(^|[[ ,(|])--?[a-zA-Z0-9][a-z0-9-]*' | tr -d ' [,(|' | sort -u)
  else
    case $prev in
      --only | --upstream) choices=$patches ;;
      --runtime | --runtimes) choices=$names ;;
      --configurations) choices=$(sed -n '/^CONFIGURATIONS = {/,/^}/s/^    "\([^"]*\)": .*/\1/p' "$repo/utils/runtime_patches/configurations.py") ;;
      --clean) choices="old ccache cache build $(cd "$repo/build" 2>/dev/null && ls)" ;;
      --checkout | --toolchain | --bind | --output | --show) compopt -o default; return ;;
      *) case ${command##*/} in
        build-runtime | with-runtime | check-abi | stress) choices=$names ;;
        run-smoke-bench | run-benchmark) choices=$names; compopt -o default ;;
        *) compopt -o default; return ;;
      esac ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
  # bash replaces only what is behind the last colon.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
}

complete -F _runtime_patches run-benchmark run-benchmark.sh gen-points.py regression.py draw-plots.py reproduce \
  $(cd "$_runtime_patches_repo/utils" && find . -maxdepth 1 -type f ! -name '*.*' -printf '%f\n')
