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
. tools/separate_apt.sh

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

rm -rf "$sysroot.part"
separate_apt "$state" arm64

if [[ $ID == ubuntu ]]; then
  # "<scheme>://<host>/ubuntu/" becomes "<scheme>://ports.<domain>/ubuntu-ports".
  mirror=${CABLEWAY_ARM64_MIRROR:-}
  if [[ -z $mirror ]]; then
    # By this machine's own lists: the separate ones are still empty.
    mirror=$(env -u APT_CONFIG apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' | grep '/ubuntu/*$' |
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

log=$state/log
if ! download_packages "${packages[@]}" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "arm64_sysroot: apt cannot download the arm64 packages of $PRETTY_NAME${mirror:+ from $mirror}" \
    "(full output: $log)${mirror:+; CABLEWAY_ARM64_MIRROR selects another mirror}" >&2
  exit 1
fi
unpack_packages "$state" "$sysroot.part"
# Absolute links would point into this machine.
find "$sysroot.part" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  ln -sfnr "$sysroot.part$(readlink "$link")" "$link"
done
echo "$wanted" >"$sysroot.part/.complete"
rm -rf "$sysroot" "$state"
mv "$sysroot.part" "$sysroot"
