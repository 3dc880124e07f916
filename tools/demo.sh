#!/usr/bin/env bash
# Shows Cableway at work on this machine. All of it is in tools/demo/; this finds a Python to run it.
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
# Root leaves no files in somebody else's tree.
if [[ -n ${SUDO_UID:-} ]]; then
  export PYTHONDONTWRITEBYTECODE=1
fi
# In place of this shell, so that a signal to the script reaches what has to clean up.
exec "$python" "$tools/demo/demo.py" "$@"
