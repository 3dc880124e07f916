#!/usr/bin/env bash
# Demonstrates Cableway on this machine. The demo is in tools/demo/; this script finds a Python to run it.
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$candidate
      return 0
    fi
  done
  return 1
}

if ! find_python && ! { "$tools/setup.sh" && hash -r && find_python; }; then
  echo "demo: FAILED: needs Python 3.11 or later, which Debian 12 and Ubuntu 24.04 have as python3"
  exit 1
fi
# Root must not leave files in another user's tree.
if [[ -n ${SUDO_UID:-} ]]; then
  export PYTHONDONTWRITEBYTECODE=1
fi
# Replaces this shell, so that signals to the script reach the program that cleans up.
exec "$python" "$tools/demo/demo.py" "$@"
