#!/usr/bin/env bash
# Checks the style of our sources. Exits with 1 and says where, if anything is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tools/style.sh format|fix|shell|tidy

  format  clang-format 14 agrees with every C and C++ file
  fix     clang-format rewrites them until it does
  shell   shellcheck finds nothing in any shell script
  tidy    clang-tidy 14 finds nothing in what ships; needs the preset `asan` configured
END
}

sources=()
while IFS= read -r -d '' file; do
  sources+=("$file")
done < <(find routing core nccl_adapter sim tools tests \( -name '*.h' -o -name '*.cc' -o -name '*.c' \) -print0 | sort -z)

scripts=(.ci/run)
while IFS= read -r -d '' file; do
  scripts+=("$file")
done < <(find tools tests -name '*.sh' -print0 | sort -z)

case ${1:-} in
  format) clang-format-14 --dry-run -Werror "${sources[@]}" && echo "style: ${#sources[@]} files are formatted" ;;
  fix) clang-format-14 -i "${sources[@]}" ;;
  shell) shellcheck -x "${scripts[@]}" && echo "style: ${#scripts[@]} scripts are clean" ;;
  tidy)
    if [[ ! -e build/asan/compile_commands.json ]]; then
      echo "style: no build/asan/compile_commands.json: run cmake --preset asan" >&2
      exit 1
    fi
    # That preset compiles several sources at once, so that what they include is looked at once and not for each of them.
    log=build/asan/tidy.log
    if ! run-clang-tidy-14 -quiet -p build/asan -j "$(nproc)" \
      "^$PWD/(build/asan/)?(routing|core|nccl_adapter|sim|tools)/" >"$log" 2>&1; then
      sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -vE '^clang-tidy|^[0-9]+ warnings? generated|^Suppressed|^Use -header-filter|^$' >&2
      exit 1
    fi
    checked=$(grep -c '^clang-tidy' "$log")
    echo "style: clang-tidy found nothing in $checked translation units"
    ;;
  --help | -h) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
