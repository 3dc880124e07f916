#!/usr/bin/env bash
# Checks the style of the sources. Exits with 1 and lists the places of any violation.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tools/style.sh format|fix|shell|tidy [--part I/N]

  format  check every C and C++ file with clang-format 14
  fix     reformat every C and C++ file with clang-format 14
  shell   check every shell script with shellcheck
  tidy    check the shipped sources with clang-tidy 14; needs the preset `asan` configured.
          --part I/N: only the translation units whose number modulo N is I, 0 to N-1
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
    # The sources that the build itself writes.
    ninja -C build/asan core/page_files.cc >build/asan/tidy.log 2>&1 || { cat build/asan/tidy.log >&2 && exit 1; }
    # That preset compiles several sources together, so that their common headers are checked only once.
    part=0 parts=1
    if [[ ${2:-} == --part ]]; then
      [[ ${3:-} =~ ^([0-9]+)/([1-9][0-9]*)$ ]] || { usage >&2 && exit 2; }
      part=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
    fi
    log=build/asan/tidy.log
    mapfile -t units < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/asan/compile_commands.json | sort -u |
      grep -E "^$PWD/(build/asan/)?(routing|core|nccl_adapter|sim|tools)/" | awk -v n="$parts" -v i="$part" 'NR % n == i % n')
    if ! run-clang-tidy-14 -quiet -p build/asan -j "$(nproc)" "${units[@]/%/\$}" >"$log" 2>&1; then
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
