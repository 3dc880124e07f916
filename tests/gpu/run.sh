#!/usr/bin/env bash
# Real NCCL over the plugin on this machine's GPU: see README.md beside this file, or --help (--scenario all --help).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=build/gpu-bundle program=gpu_run.py
previous=
for word in "$@"; do
  if [[ $previous == --bundle ]]; then bundle=$word; fi
  if [[ $word == --scenario || $word == --scenario=* ]]; then program=scenario_run.py; fi
  previous=$word
done
# Before the system's: a GPU machine may have neither ip nor tc.
PATH=$(cd "$bundle/tools" 2>/dev/null && pwd || echo /nonexistent):$PATH
export PATH PYTHONUNBUFFERED=1
exec python3 "$here/$program" "$@"
