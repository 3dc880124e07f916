#!/usr/bin/env bash
# Sets up, builds and runs the tests. The last line it prints is ctest's.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'END'
usage: tools/test.sh [--all [--without PRESET]..] [--short] [--verbs] [--filter REGEX] [--preset NAME]

Installs missing packages (tools/setup.sh), configures and builds the preset `release`, and runs all tests except those
with real verbs.

  --all            also: address and undefined-behaviour sanitizers and the fuzzers (asan, with clang), thread sanitizer
                   (tsan), arm64 (a cross build whose unit tests run under qemu-user), clang-format, clang-tidy,
                   shellcheck, the tests with real verbs
  --verbs          only the tests with real verbs, one at a time, in virtual machines with soft-RoCE (tools/lab/softroce)
  --without PRESET with --all: leave out asan, tsan or arm64; may be repeated
  --short          leave out the long tests: planted bugs, models, benchmarks, most seeds, the longer cases of failing
                   cables and silence, and with --all those with real verbs, and in release the unit tests that the
                   first of asan, tsan and arm64 runs, too, and three quarters of clang-tidy's translation units: the
                   commit decides which
  --filter REGEX   run only the tests whose name matches; with --all their names begin with "asan.", "tsan.", "arm64."
                   or "style."
  --preset NAME    build and test only this preset: release, debug, asan, tsan or arm64

Output of the stages goes to build/logs/. Exit status 0 means that every stage and every test passed.
END
}

all=false
verbs=false
short=false
without=()
presets=()
preset=
filter=()
while (($# > 0)); do
  case $1 in
    --all) all=true ;;
    --verbs) verbs=true ;;
    --short) short=true ;;
    --without)
      case ${2:-} in
        asan | tsan | arm64) without+=("$2") && shift ;;
        *) echo "test.sh: --without needs asan, tsan or arm64" >&2 && exit 2 ;;
      esac
      ;;
    --filter) filter=(-R "${2:?--filter needs a regular expression}") && shift ;;
    --preset) preset=${2:?--preset needs a name} && shift ;;
    --help | -h) usage && exit 0 ;;
    *) echo "test.sh: unknown argument '$1'; tools/test.sh --help lists them" >&2 && exit 2 ;;
  esac
  shift
done
if $all && [[ -n $preset ]]; then
  echo "test.sh: --all builds every preset: leave out --preset" >&2
  exit 2
fi
if ((${#without[@]} > 0)) && ! $all; then
  echo "test.sh: --without needs --all" >&2
  exit 2
fi
if $short && $verbs; then
  echo "test.sh: the tests with real verbs are long: leave out --short" >&2
  exit 2
fi

logs=$PWD/build/logs
mkdir -p "$logs"
export NINJA_STATUS='[%f/%t] '

elapsed() { printf '[%3d:%02d]' $((SECONDS / 60)) $((SECONDS % 60)); }

failed() { # <stage> <log>
  echo "$(elapsed) test.sh: FAILED in stage '$1'; full output: $2" >&2
  exit 1
}

# Runs one stage, with its output in a log that is shown if it fails. Prints progress every half minute.
stage() { # <name> <command...>
  local name=$1 log=$logs/${1// /-}.log begin=$SECONDS worker
  shift
  echo "$(elapsed) $name"
  "$@" </dev/null >"$log" 2>&1 &
  worker=$!
  while kill -0 "$worker" 2>/dev/null; do
    sleep 0.5
    if ((SECONDS - begin >= 30 && (SECONDS - begin) % 30 == 0)); then
      echo "$(elapsed)   $(tail -n 1 "$log" | cut -c 1-110)"
      sleep 0.6
    fi
  done
  if ! wait "$worker"; then
    grep -E -A 12 'error|Error|FAILED|missing' "$log" | cut -c 1-300 | head -n 60 >&2 || tail -n 40 "$log" >&2
    failed "$name" "$log"
  fi
}

build() { # <preset>: configures and builds it, and checks that it has tests
  local long_tests=ON left_to=
  if $short; then
    long_tests=OFF
    # The first of the others, as release comes first.
    if [[ $1 == release ]]; then left_to=${presets[1]:-}; fi
  fi
  stage "configure $1" cmake --preset "$1" -DCABLEWAY_LONG_TESTS=$long_tests -DCABLEWAY_UNITS_LEFT_TO="$left_to"
  stage "build $1" cmake --build --preset "$1"
  local count
  count=$(ctest --preset "$1" -N 2>/dev/null | sed -n 's/^Total Tests: //p' || true)
  if [[ -z $count || $count == 0 ]]; then
    echo "preset $1 has no tests" >&2
    failed "build $1" "$logs/build-$1.log"
  fi
  echo "$(elapsed)   $1: $count tests"
}

# Runs ctest and prints its closing line last.
conclude() { # <arguments of ctest that select the tests>
  local log=$logs/ctest.log
  echo "$(elapsed) test"
  local status=0
  ctest "$@" --output-on-failure --no-tests=error --no-label-summary "${filter[@]}" </dev/null 2>&1 |
    tee "$log" || status=$?
  echo "$(elapsed) done"
  if ((status != 0)); then
    sed -n '/^The following tests FAILED/,$p' "$log" >&2
    echo "$(elapsed) test.sh: FAILED in stage 'test'; full output: $log" >&2
  fi
  grep -E '^[0-9]+% tests passed' "$log" || true
  return "$status"
}

# One more than the number of processors: many tests mostly wait.
jobs=(-j $(($(nproc) + 1)))

if ! $all; then
  preset=${preset:-release}
  groups=()
  if [[ $preset != release && $preset != debug ]]; then
    groups=(--all)
  fi
  selection=(-LE verbs "${jobs[@]}")
  if $verbs; then
    groups+=(--verbs)
    selection=(-L verbs -j 1)
  fi
  stage "set-up" tools/setup.sh "${groups[@]}"
  build "$preset"
  conclude --preset "$preset" "${selection[@]}"
  exit
fi

groups=(--all --verbs)
selection=()
if $short; then
  groups=(--all)
  selection=(-LE verbs)
fi
stage "set-up" tools/setup.sh "${groups[@]}"
presets=(release)
for preset in asan tsan arm64; do
  if [[ " ${without[*]} " == *" $preset "* ]]; then
    echo "$(elapsed)   without $preset"
  elif [[ $preset == arm64 && $(uname -m) == aarch64 ]]; then
    echo "$(elapsed)   this machine is arm64 itself: no cross build"
  else
    presets+=("$preset")
  fi
done
stage "style format" tools/style.sh format
stage "style shell" tools/style.sh shell
for preset in "${presets[@]}"; do
  build "$preset"
done
if [[ " ${presets[*]} " != *" asan "* ]]; then
  stage "configure asan for clang-tidy" cmake --preset asan
fi

# One ctest run over all builds, so that one closing line covers them. The side builds come first, release last.
mkdir -p build/all
{
  for check in format shell tidy; do
    arguments=
    if $short && [[ $check == tidy ]]; then
      tree=$(git rev-parse 'HEAD^{tree}' || echo 00)
      arguments="--part $((0x${tree:1:1} % 4))/4"
    fi
    echo "add_test(style.$check \"$PWD/tools/style.sh\" $check $arguments)"
    echo "set_tests_properties(style.$check PROPERTIES WORKING_DIRECTORY \"$PWD\" LABELS style TIMEOUT 1500)"
  done
  echo "set_tests_properties(style.tidy PROPERTIES PROCESSORS $(nproc))"
  for preset in "${presets[@]:1}" release; do
    echo "subdirs(\"$PWD/build/$preset\")"
  done
} >build/all/CTestTestfile.cmake
conclude --test-dir build/all "${selection[@]}" "${jobs[@]}"
