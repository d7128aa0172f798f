# Completion for bash: `. utils/completion.bash`, in a shell or in ~/.bashrc. The program itself says what fits.

_runtime_patches_repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

_runtime_patches() {
  local repo=$_runtime_patches_repo command cur before words choices
  COMPREPLY=()
  command=$(readlink -f "$(command -v -- "$1")") || return
  # Others have commands of these names, too. The name for the program is the last word of a starter but one.
  case $command in "$repo"/utils/* | "$repo"/benchmark/*) ;; *) return ;; esac
  local name
  name=$(grep -oE 'launch(" |, ")[a-z/-]+' "$command" | sed 's/^launch[", ]*//')

  # As typed: bash would split `upto:PATCH` at the colon.
  before=${COMP_LINE:0:COMP_POINT}
  cur=${before##*[[:space:]]}
  read -ra words <<<"${before%"$cur"}"
  choices=$("$repo/utils/runtime_patches/launch" complete "$name" "${words[@]:1}" "$cur" 2>/dev/null)
  if [[ $'\n'$choices$'\n' == *$'\n'files$'\n'* ]]; then compopt -o default; fi
  mapfile -t COMPREPLY < <(compgen -W "${choices//files/}" -- "$cur")
  # bash replaces only what is behind the last colon.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
  fi
}

complete -F _runtime_patches run-benchmark run-benchmark.sh gen-points.py regression.py reproduce \
  $(cd "$_runtime_patches_repo/utils" && find . -maxdepth 1 -type f ! -name '*.*' -printf '%f\n')
