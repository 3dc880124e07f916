#!/usr/bin/env bash
# Makes the packages: a .deb and a tarball of the same files for each architecture.
set -euo pipefail
umask 022
called_from=$PWD
cd "$(dirname "$0")/.."

usage() {
  cat <<'USAGE'
usage: tools/package.sh [--arch amd64|arm64|all] [--version VERSION] [--output FOLDER] [--print-version]

Builds the preset package (or package-arm64), with abseil and the C++ runtime linked in, and writes to FOLDER:

  cableway_VERSION_ARCH.deb            for Debian 12, Ubuntu 22.04 and Ubuntu 24.04
  cableway-VERSION-linux-ARCH.tar.gz   the same files, to be unpacked into /opt: /opt/cableway

Build on Debian 12: what a newer system builds needs that system. It fails if anything in them needs a library that they
do not bring, or a symbol newer than glibc 2.35.

  --arch ARCH        this machine's by default; arm64 can be cross-built on amd64; all: both
  --version VERSION  default: the tag of the commit (v1.2.3), which has to be the version of CMakeLists.txt; else that
                     version with the commit's time and name, and ".changed" where files differ from it. It sorts before
                     the release (1.2.3~..) until a commit before it has the release's tag, and after it from then on
                     (1.2.3+..)
  --output FOLDER    build/packages by default
  --print-version    print the version, and make nothing
USAGE
}

own_arch=$(dpkg --print-architecture)
arches=("$own_arch") version='' output=build/packages only_version=false
while (($# > 0)); do
  case $1 in
    --arch)
      case ${2:-} in
        amd64 | arm64) arches=("$2") ;;
        all) arches=(amd64 arm64) ;;
        *) echo "package: --arch needs amd64, arm64 or all" >&2 && exit 2 ;;
      esac
      shift
      ;;
    --version) version=${2:?--version needs a version} && shift ;;
    --output) output=$(cd "$called_from" && realpath -m "${2:?--output needs a folder}") && shift ;;
    --print-version) only_version=true ;;
    --help | -h) usage && exit 0 ;;
    *) echo "package: unknown argument '$1'; tools/package.sh --help lists them" >&2 && exit 2 ;;
  esac
  shift
done

declared=$(sed -n 's/^project(cableway VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
commit_time() { git log -1 --format=%ct 2>/dev/null || date +%s; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(commit_time)}
export SOURCE_DATE_EPOCH

# "~" is less than the end of the text, "+" more: a version sorts before a release that is still to come, and after one
# that has been. A changed tree is no release.
find_version() {
  local tags changed='' mark='~'
  if [[ $(git rev-parse --show-toplevel 2>/dev/null) != "$PWD" ]]; then
    echo "package: $PWD is not a git repository: give --version" >&2
    exit 1
  fi
  if [[ -n $(git status --porcelain) ]]; then
    changed=.changed
  fi
  tags=$(git tag --points-at HEAD --list 'v[0-9]*')
  if [[ -z $changed && -n $tags ]]; then
    if ! grep -qxF "v$declared" <<<"$tags"; then
      echo "package: the tag is ${tags//$'\n'/, }, but CMakeLists.txt has version $declared: expected the tag v$declared," \
        "or the tag's version in CMakeLists.txt" >&2
      exit 1
    fi
    echo "$declared"
    return
  fi
  if git merge-base --is-ancestor "refs/tags/v$declared" HEAD 2>/dev/null; then
    mark='+'
  fi
  echo "$declared$mark$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S).$(git rev-parse --short=8 HEAD)$changed"
}
if [[ -z $version ]]; then
  version=$(find_version)
fi
if [[ ! $version =~ ^[0-9][0-9A-Za-z.~+]*$ ]]; then
  echo "package: '$version' is not a version: expected digits, letters, '.', '~' and '+', the first a digit" >&2
  exit 2
fi
if $only_version; then
  echo "$version"
  exit 0
fi

# The glibc of Debian 12, the newest with which packages are built. check_needs.sh refuses symbols newer than 2.35.
newest_build=2.36
own_glibc=$(ldd --version | sed -n '1s/.* //p')
if [[ $(printf '%s\n%s\n' "$own_glibc" "$newest_build" | sort -V | tail -n 1) != "$newest_build" ]]; then
  echo "package: this system has glibc $own_glibc: what is built here needs symbols of it. Build packages on Debian 12," \
    "or in a container of it" >&2
  exit 1
fi
if [[ " ${arches[*]} " == *" amd64 "* && $own_arch != amd64 ]]; then
  echo "package: packages for amd64 are built on amd64" >&2
  exit 1
fi

log=build/packages.log
mkdir -p build "$output"
: >"$log"
step() { # <description> <command...>
  local worker
  echo "package: $1" | tee -a "$log"
  shift
  # Not within the condition, where a function would go on after a command that failed.
  "$@" </dev/null >>"$log" 2>&1 &
  worker=$!
  if ! wait "$worker"; then
    tail -n 20 "$log" >&2
    echo "package: failed (full output: $log)" >&2
    exit 1
  fi
}

# So that two builds of a commit are equal.
set_times() { # <folder>
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

make_tarball() { # <preset> <arch> <work>
  local home=$3/tarball/cableway name=cableway-$version-linux-$2.tar.gz
  DESTDIR=$3/destination cmake --install "build/$1" --strip --prefix /opt/cableway
  mkdir -p "$3/tarball"
  mv "$3/destination/opt/cableway" "$home"
  install -m 755 tools/package/take_back_up.sh tools/package/uninstall.sh "$home/lib/cableway/"
  (cd "$home" && find . ! -type d -printf '%P\n' | sort) >"$3/files"
  install -m 644 "$3/files" "$home/lib/cableway/uninstall.files"
  set_times "$home"
  tar -C "$3/tarball" --sort=name --owner=root:0 --group=root:0 --numeric-owner -czf "$output/$name" cableway
}

make_deb() { # <preset> <arch> <work>
  local root=$3/deb triplet=x86_64-linux-gnu file
  [[ $2 == amd64 ]] || triplet=aarch64-linux-gnu
  DESTDIR=$root cmake --install "build/$1" --strip --prefix /usr
  # NCCL_NET_PLUGIN=cableway finds the plugin in the linker's path, which has nothing else of ours.
  mkdir -p "$root/usr/lib/$triplet" "$root/etc/cableway" "$root/DEBIAN"
  rm "$root/usr/lib/libnccl-net-cableway.so"
  ln -s ../cableway/libnccl-net-cableway.so "$root/usr/lib/$triplet/"
  # It belongs to libnl's other libraries, which libibverbs brings: of the system's, never two versions in one process.
  rm "$root/usr/lib/cableway/"libnl-3.so.*
  install -m 644 tools/package/cableway.toml "$root/etc/cableway/"
  install -m 755 tools/package/take_back_up.sh "$root/usr/lib/cableway/"
  install -D -m 644 tools/package/needrestart.conf "$root/etc/needrestart/conf.d/cableway.conf"
  install -m 644 tools/package/copyright "$root/usr/share/doc/cableway/"
  rm "$root/usr/share/doc/cableway/LICENSE"
  mv "$root/usr/share/doc/cableway/CHANGELOG.md" "$root/usr/share/doc/cableway/changelog"
  find "$root/usr/share/doc/cableway/changelog" "$root/usr/share/man" -type f -exec gzip -n9 {} +

  for file in postinst prerm postrm; do install -m 755 "tools/package/$file" "$root/DEBIAN/$file"; done
  (cd "$root" && find etc -type f -printf '/%p\n') >"$root/DEBIAN/conffiles"
  echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  sed -e "s/@VERSION@/$version/; s/@ARCH@/$2/; s/@KIB@/$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)/" \
    tools/package/control.in >"$root/DEBIAN/control"
  set_times "$root"
  dpkg-deb --root-owner-group -Zxz --build "$root" "$output/cableway_${version}_$2.deb"
}

needs=()
[[ ${arches[*]} == "$own_arch" ]] || needs=(--arm64)
step "tools/setup.sh" tools/setup.sh "${needs[@]}"
for arch in "${arches[@]}"; do
  preset=package
  [[ $arch == "$own_arch" ]] || preset=package-$arch
  step "$arch: abseil" tools/static_abseil.sh --arch "$arch"
  step "$arch: configure" cmake --preset "$preset" -DCABLEWAY_VERSION="$version" \
    -DCABLEWAY_STATIC_ABSEIL="build/abseil/$arch"
  step "$arch: build" cmake --build --preset "$preset"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  step "$arch: tarball" make_tarball "$preset" "$arch" "$work"
  step "$arch: .deb" make_deb "$preset" "$arch" "$work"
  step "$arch: dependencies" tools/package/check_needs.sh "$work/tarball/cableway/lib/cableway"
  step "$arch: exports" tests/install/check_exports.sh nm "$work/tarball/cableway/lib/cableway/libnccl-net-cableway.so"
  rm -rf "$work"
done
for arch in "${arches[@]}"; do
  (cd "$output" && ls -s --block-size=K "cableway_${version}_$arch.deb" "cableway-$version-linux-$arch.tar.gz")
done
