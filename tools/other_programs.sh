#!/usr/bin/env bash
# Unpacks programs of others into build/other_programs/bin, for tests: netplan-generate, nmcli and promtool, which read
# what Cableway writes, and sshd, through which collperf starts ranks.
#
#   tools/other_programs.sh [--check]
#
# They are this machine's release's, with the libraries that they need. Nothing is installed, so no service of them starts
# here, and root is not needed. --check only reports, by its exit status, whether they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/separate_apt.sh

packages=(netplan.io network-manager prometheus openssh-server)
programs=$PWD/build/other_programs
state=$PWD/build/other_programs-apt

# shellcheck source=/dev/null
. /etc/os-release
wanted="$ID $VERSION_ID: ${packages[*]}"
if [[ -e $programs/.complete && $(<"$programs/.complete") == "$wanted" ]]; then
  exit 0
fi
if [[ ${1:-} == --check ]]; then
  exit 1
fi

separate_apt "$state" "$(dpkg --print-architecture)"
log=$state/log
if ! download_packages "${packages[@]}" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "other_programs: apt cannot download ${packages[*]} of $PRETTY_NAME (full output: $log)" >&2
  exit 1
fi
root=$state/root
unpack_packages "$state" "$root"
rm -rf "$programs"
mkdir -p "$programs"/{bin,lib,programs}

# The release's own loader and libraries, wherever its packages have them: /lib, /usr/lib.
loader=$(find "$root" -name 'ld-linux-*.so.*' | head -n 1)
triplet=$(basename "$(dirname "$(find "$root" -name 'libc.so.6' | head -n 1)")")
cp -L "$loader" "$programs/lib/loader"

add_program() { # <name> <its path in the packages, a pattern>
  local program library
  program=$(find "$root" -path "$root/$2" -type f | head -n 1)
  if [[ -z $program ]]; then
    echo "other_programs: the packages ${packages[*]} of $PRETTY_NAME have no $2" >&2
    exit 1
  fi
  cp "$program" "$programs/programs/$1"
  while read -r library; do
    cp -L "$library" "$programs/lib/"
  done < <("$loader" --library-path "$root/lib/$triplet:$root/usr/lib/$triplet" --list "$program" |
    sed -n "s#.* => \($root/[^ ]*\) .*#\1#p")
  cat >"$programs/bin/$1" <<END
#!/bin/sh
exec "$programs/lib/loader" --library-path "$programs/lib" "$programs/programs/$1" "\$@"
END
  chmod +x "$programs/bin/$1"
}
add_program netplan-generate '*/netplan/generate'
add_program nmcli '*bin/nmcli'
add_program promtool '*bin/promtool'
add_program sshd '*sbin/sshd'
rm -rf "$state"
echo "$wanted" >"$programs/.complete"
