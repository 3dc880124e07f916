#!/usr/bin/env bash
# Unpacks the arm64 libraries that the cross build links against into build/arm64-sysroot.
#
#   tools/arm64_sysroot.sh [--check]
#
# It uses apt for this machine's release with a separate package state, so nothing is installed here, no foreign
# architecture is added and root is not needed. --check only reports, by its exit status, whether the sysroot is complete.
# Ubuntu keeps arm64 on another mirror: its address is derived from this machine's sources, unless CABLEWAY_ARM64_MIRROR
# is set.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(libc6-dev libstdc++6 libabsl-dev libboost-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libibverbs-dev libisal-dev libnl-3-dev libsodium-dev libspdlog-dev libsystemd-dev
  libgtest-dev libgmock-dev)
sysroot=$PWD/build/arm64-sysroot
state=$PWD/build/arm64-apt

# shellcheck source=/dev/null
. /etc/os-release
wanted="$ID $VERSION_ID: ${packages[*]}"

if [[ -e $sysroot/.complete && $(<"$sysroot/.complete") == "$wanted" ]]; then
  exit 0
fi
if [[ ${1:-} == --check ]]; then
  exit 1
fi

rm -rf "$state" "$sysroot.part"
mkdir -p "$state"/{lists,cache,etc}
: >"$state/status"
cat >"$state/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "$state/etc";
END

if [[ $ID == ubuntu ]]; then
  # "<scheme>://<host>/ubuntu/" becomes "<scheme>://ports.<domain>/ubuntu-ports".
  mirror=${CABLEWAY_ARM64_MIRROR:-}
  if [[ -z $mirror ]]; then
    mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' | grep '/ubuntu/*$' |
      sed -nE 's#^([a-z]+)://[^/]*\.([a-z0-9-]+\.[a-z]+)/ubuntu/*$#\1://ports.\2/ubuntu-ports#p' | head -n 1 || true)
  fi
  if [[ -z $mirror ]]; then
    echo "arm64_sysroot: cannot derive the mirror of Ubuntu's arm64 packages from apt's sources;" \
      "set CABLEWAY_ARM64_MIRROR to the address of an ubuntu-ports mirror" >&2
    exit 1
  fi
  for suite in "$VERSION_CODENAME" "$VERSION_CODENAME-updates" "$VERSION_CODENAME-security"; do
    echo "deb [signed-by=/usr/share/keyrings/ubuntu-archive-keyring.gpg] $mirror $suite main universe"
  done >"$state/sources.list"
  printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' "$state/sources.list" >>"$state/apt.conf"
fi

export APT_CONFIG=$state/apt.conf
log=$state/log
if ! { apt-get -q update && apt-get -q -y --no-install-recommends --download-only install "${packages[@]}"; } \
  </dev/null >"$log" 2>&1; then
  # A third-party source without arm64 fails the update but not the download.
  if ! apt-get -q -y --no-install-recommends --download-only install "${packages[@]}" </dev/null >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "arm64_sysroot: apt cannot download the arm64 packages of $PRETTY_NAME${mirror:+ from $mirror}" \
      "(full output: $log)${mirror:+; CABLEWAY_ARM64_MIRROR selects another mirror}" >&2
    exit 1
  fi
fi

mkdir -p "$sysroot.part"
for package in "$state"/cache/archives/*.deb; do
  dpkg -x "$package" "$sysroot.part"
done
# Absolute links would point into this machine.
find "$sysroot.part" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  ln -sfnr "$sysroot.part$(readlink "$link")" "$link"
done
echo "$wanted" >"$sysroot.part/.complete"
rm -rf "$sysroot" "$state"
mv "$sysroot.part" "$sysroot"
