#!/usr/bin/env bash
# Unpacks programs of others that read what Cableway writes into build/readers/bin, for tests: netplan-generate, nmcli,
# promtool.
#
#   tools/readers.sh [--check]
#
# They are this machine's release's, with the libraries that they need. Nothing is installed, so no service of them starts
# here, and root is not needed. --check only reports, by its exit status, whether they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/separate_apt.sh

packages=(netplan.io network-manager prometheus)
readers=$PWD/build/readers
state=$PWD/build/readers-apt

# shellcheck source=/dev/null
. /etc/os-release
wanted="$ID $VERSION_ID: ${packages[*]}"
if [[ -e $readers/.complete && $(<"$readers/.complete") == "$wanted" ]]; then
  exit 0
fi
if [[ ${1:-} == --check ]]; then
  exit 1
fi

separate_apt "$state" "$(dpkg --print-architecture)"
log=$state/log
if ! download_packages "${packages[@]}" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "readers: apt cannot download ${packages[*]} of $PRETTY_NAME (full output: $log)" >&2
  exit 1
fi
root=$state/root
unpack_packages "$state" "$root"
rm -rf "$readers"
mkdir -p "$readers"/{bin,lib,programs}

# The release's own loader and libraries, wherever its packages have them: /lib, /usr/lib.
loader=$(find "$root" -name 'ld-linux-*.so.*' | head -n 1)
triplet=$(basename "$(dirname "$(find "$root" -name 'libc.so.6' | head -n 1)")")
cp -L "$loader" "$readers/lib/loader"

add_reader() { # <name> <its path in the packages, a pattern>
  local program library
  program=$(find "$root" -path "$root/$2" -type f | head -n 1)
  if [[ -z $program ]]; then
    echo "readers: the packages ${packages[*]} of $PRETTY_NAME have no $2" >&2
    exit 1
  fi
  cp "$program" "$readers/programs/$1"
  while read -r library; do
    cp -L "$library" "$readers/lib/"
  done < <("$loader" --library-path "$root/lib/$triplet:$root/usr/lib/$triplet" --list "$program" |
    sed -n "s#.* => \($root/[^ ]*\) .*#\1#p")
  cat >"$readers/bin/$1" <<END
#!/bin/sh
exec "$readers/lib/loader" --library-path "$readers/lib" "$readers/programs/$1" "\$@"
END
  chmod +x "$readers/bin/$1"
}
add_reader netplan-generate '*/netplan/generate'
add_reader nmcli '*bin/nmcli'
add_reader promtool '*bin/promtool'
rm -rf "$state"
echo "$wanted" >"$readers/.complete"
