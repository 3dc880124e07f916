#!/bin/sh
# check_exports.sh NM PLUGIN: checks that the plugin exports its tables (five of the network, four of
# the tuner, two of the environment) and nothing else. Another symbol could
# conflict with symbols of the frameworks that load the plugin.
set -eu
nm=$1
plugin=$2
expected=$(printf 'ncclEnvPlugin_v%s\n' 1 2; printf 'ncclNetPlugin_v%s\n' 10 11 12 8 9; printf 'ncclTunerPlugin_v%s\n' 3 4 5 6)
found=$("$nm" -D --defined-only "$plugin" | awk '{print $NF}' | LC_ALL=C sort)
if [ "$found" != "$expected" ]; then
  printf 'exported by %s:\n%s\nexpected:\n%s\n' "$plugin" "$found" "$expected" >&2
  exit 1
fi
