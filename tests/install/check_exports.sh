#!/bin/sh
# check_exports.sh NM PLUGIN: checks that the plugin exports its five tables and nothing else. Another symbol could
# conflict with symbols of the frameworks that load the plugin.
set -eu
nm=$1
plugin=$2
expected=$(printf 'ncclNetPlugin_v%s\n' 10 11 12 8 9)
found=$("$nm" -D --defined-only "$plugin" | awk '{print $NF}' | LC_ALL=C sort)
if [ "$found" != "$expected" ]; then
  printf 'exported by %s:\n%s\nexpected:\n%s\n' "$plugin" "$found" "$expected" >&2
  exit 1
fi
