#!/usr/bin/env bash
# Runs every fuzzer for a given number of executions, on all cores, and prints executions and findings.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'END_OF_USAGE'
usage: tests/fuzz/campaign.sh [options] [FUZZER...]

Runs each fuzzer of the preset `asan` (build it first: cmake --preset asan && cmake --build --preset asan) in parts, each
with its own seed and corpus, as many at a time as there are processors.

  --runs N      executions of each fuzzer, all parts together (10000000)
  --parts N     parts of each fuzzer (4)
  --seconds N   time limit of a part; one that exceeds it ends early, and the table shows its executions (no limit)
  --seed N      seed of the first part; another seed searches differently (1)
  --jobs N      parts that run at a time (the number of processors)
  --build DIR   build folder (build/asan)
  --out DIR     findings, new inputs and each part's log (build/asan/campaign)
  --keep DIR    a corpus for the next campaign: read, and replaced by the fewest inputs that reach what it and the
                new inputs reach; so a campaign can be run in pieces (none)

Exit status: 0 all executions done and nothing found; 1 a finding, or a part that ended early; 2 bad arguments.
END_OF_USAGE
}

refuse() {
  echo "campaign.sh: $1; --help lists the options" >&2
  exit 2
}

runs=10000000 parts=4 seconds=0 seed=1 jobs=$(nproc) build=build/asan out='' keep=''
fuzzers=()
while (($# > 0)); do
  case $1 in
    --runs | --parts | --seconds | --seed | --jobs)
      [[ ${2:-} =~ ^[1-9][0-9]{0,11}$ ]] || refuse "$1 needs a number from 1 on, not '${2:-}'"
      declare "${1#--}=$2"
      shift
      ;;
    --build) build=${2:?"--build needs a folder"} && shift ;;
    --out) out=${2:?"--out needs a folder"} && shift ;;
    --keep) keep=${2:?"--keep needs a folder"} && shift ;;
    --help | -h) usage && exit 0 ;;
    -*) refuse "unknown option '$1'" ;;
    *) fuzzers+=("$1") ;;
  esac
  shift
done
out=${out:-$build/campaign}
((${#fuzzers[@]})) || for seeds in tests/fuzz/corpus/*/; do fuzzers+=("$(basename "$seeds")"); done
for fuzzer in "${fuzzers[@]}"; do
  [[ -x $build/bin/$fuzzer ]] || refuse "$build/bin/$fuzzer does not exist"
  [[ -d tests/fuzz/corpus/$fuzzer ]] || refuse "tests/fuzz/corpus/$fuzzer does not exist"
done
if [[ -n $keep ]]; then
  for folder in "$out" tests/fuzz/corpus; do
    [[ $(realpath -m "$keep")/ != "$(realpath -m "$folder")"/* ]] || refuse "--keep must not be in $folder, whose files this replaces"
  done
fi
rm -rf "$out"
mkdir -p "$out"
[[ -z $keep ]] || mkdir -p "${fuzzers[@]/#/$keep/}"

# Called by xargs, in separate shells.
# shellcheck disable=SC2317
part() { # <fuzzer> <part>
  local fuzzer=$1 number=$2 own=$out/$1.$2
  mkdir -p "$own/found" "$own/corpus"
  local share=$((runs / parts + (number < runs % parts))) seeds=("tests/fuzz/corpus/$fuzzer")
  [[ -z $keep ]] || seeds+=("$keep/$fuzzer")
  "$build/bin/$fuzzer" -runs="$share" -max_total_time="$seconds" -seed=$((seed + number)) -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$own/found/" -print_final_stats=1 "$own/corpus" "${seeds[@]}" >"$own/log" 2>&1 ||
    echo "$fuzzer, part $number: exit status $?; see $own/log" >"$own/failed"
}
export -f part
export runs parts seconds seed build out keep

# Parts of one fuzzer are far apart in the order, so that those of a slow fuzzer do not all run last.
begin=$SECONDS
# shellcheck disable=SC2016 # expanded by those shells
for ((number = 0; number < parts; ++number)); do
  printf "%s $number\n" "${fuzzers[@]}"
done | xargs -P "$jobs" -L 1 bash -c 'part "$0" "$1"' &
search=$!
while kill -0 "$search" 2>/dev/null; do
  sleep 1
  (((SECONDS - begin) % 30)) ||
    echo "$((SECONDS - begin)) s: $(find "$out" -name log -size +0 | wc -l) of $((parts * ${#fuzzers[@]})) parts begun" >&2
done
wait "$search"

status=0
printf '| fuzzer | executions | a second, on one core | inputs found to reach new code | findings |\n|---|---|---|---|---|\n'
for fuzzer in "${fuzzers[@]}"; do
  read -r executed speed grown < <(cat "$out/$fuzzer".*/log | awk '
    $1 == "stat::number_of_executed_units:" { executed += $2; parts += 1 }
    $1 == "stat::average_exec_per_sec:" { speed += $2 }
    $1 == "stat::new_units_added:" { grown += $2 }
    END { printf "%d %d %d\n", executed, parts ? speed / parts : 0, grown }')
  findings=$(find "$out/$fuzzer".*/found -type f | wc -l)
  printf '| %s | %d | %d | %d | %d |\n' "$fuzzer" "$executed" "$speed" "$grown" "$findings"
  if ((executed < runs || findings > 0)); then status=1; fi
done
if [[ -n $keep ]]; then
  for fuzzer in "${fuzzers[@]}"; do
    mkdir "$out/$fuzzer.kept"
    "$build/bin/$fuzzer" -merge=1 -timeout=10 -rss_limit_mb=2048 "$out/$fuzzer.kept" "$keep/$fuzzer" "$out/$fuzzer".*/corpus \
      >"$out/$fuzzer.merge_log" 2>&1 || { echo "$fuzzer: cannot merge; see $out/$fuzzer.merge_log" >&2 && status=1 && continue; }
    rm -rf "${keep:?}/$fuzzer"
    mv "$out/$fuzzer.kept" "$keep/$fuzzer"
  done
fi
if compgen -G "$out/*/failed" >/dev/null; then cat "$out"/*/failed >&2 && status=1; fi
echo "$((SECONDS - begin)) s on $(nproc) processors, ${#fuzzers[@]} fuzzers in $parts parts each, seeds from $seed"
exit "$status"
