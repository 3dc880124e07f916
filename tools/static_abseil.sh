#!/usr/bin/env bash
# Builds this system's own release of abseil as static, position-independent libraries, which the packages link in.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/separate_apt.sh

usage() {
  cat <<'USAGE'
usage: tools/static_abseil.sh [--arch amd64|arm64]

Reads the source of the installed libabsl-dev through apt, into build/abseil, and builds the libraries that Cableway uses
into build/abseil/ARCH/lib; nothing is installed. They have the same headers, patches and options as the shared ones of
libabsl-dev, so objects that were compiled for those link against them, too. The static libraries of libabsl-dev itself
are no replacement: they are not position-independent.

  --arch ARCH  build for this architecture, with tools/arm64_sysroot.sh for arm64; default: this machine's
USAGE
}

arch=$(dpkg --print-architecture)
while (($# > 0)); do
  case $1 in
    --arch)
      case ${2:-} in
        amd64 | arm64) arch=$2 && shift ;;
        *) echo "static_abseil: --arch needs amd64 or arm64" >&2 && exit 2 ;;
      esac
      ;;
    --help | -h) usage && exit 0 ;;
    *) echo "static_abseil: unknown argument '$1'; tools/static_abseil.sh --help lists them" >&2 && exit 2 ;;
  esac
  shift
done

cross=()
if [[ $arch != "$(dpkg --print-architecture)" ]]; then
  if [[ $arch != arm64 ]]; then
    echo "static_abseil: on $(dpkg --print-architecture) only arm64 can be built beside it" >&2
    exit 1
  fi
  cross=(-DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/arm64.cmake")
fi

version=$(dpkg-query -W -f '${source:Version}' libabsl-dev 2>/dev/null) ||
  { echo "static_abseil: libabsl-dev is not installed: run tools/setup.sh" >&2 && exit 1; }
made=build/abseil/$arch
if [[ -e $made/.complete && $(<"$made/.complete") == "$version" ]]; then
  exit 0
fi

state=$PWD/$made/apt
log=$PWD/build/abseil/$arch.log
rm -rf "$made"
separate_state "$state"
: >"$log"

run() { # <description> <remedy> <command...>
  local what=$1 remedy=$2
  shift 2
  if ! "$@" </dev/null >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "static_abseil: cannot $what (full output: $log)$remedy" >&2
    exit 1
  fi
}

# The sources of every repository whose packages this machine uses.
apt-get indextargets --format "deb-src \$(REPO_URI) \$(RELEASE) \$(COMPONENT) # \$(ORIGIN)" 'Created-By: Packages' |
  sed -nE 's/ # (Debian|Ubuntu)$//p' | sort -u >"$state/sources.list"
if [[ ! -s $state/sources.list ]]; then
  echo "static_abseil: apt has no lists of Debian's or Ubuntu's packages here: run apt-get update" >&2
  exit 1
fi
cat >>"$state/apt.conf" <<CONF
APT::Update::Error-Mode "any";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
CONF
export APT_CONFIG=$state/apt.conf
run "read the lists of sources" "" apt-get -q update
source=$PWD/$made/source
fetch() (cd "$made" && apt-get -q --only-source --download-only source "abseil=$version")
run "download the source of abseil $version" \
  "; if the archive has a newer one, upgrade libabsl-dev first" fetch
unset APT_CONFIG
run "unpack the source of abseil" "" dpkg-source -x "$made"/abseil_*.dsc "$source"

# Those that are linked, with their own needs.
targets=(status statusor cord str_format_internal strings throw_delegate raw_hash_set hash time synchronization)
run "configure abseil" "" cmake -S "$source" -B "$made/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$source=abseil" \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_TESTING=OFF "${cross[@]}"
run "build abseil" "" cmake --build "$made/build" --target "${targets[@]}"
mkdir "$made/lib"
find "$made/build" -name 'libabsl_*.a' -exec mv -t "$made/lib" {} +
rm -rf "$made/build" "$state" "$source" "$made"/abseil_*
echo "$version" >"$made/.complete"
