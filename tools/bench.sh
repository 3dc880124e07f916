#!/usr/bin/env bash
# Benchmarks. Each writes its section of docs/benchmarks.md; what runs on cables builds a lab of its own in network namespaces.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  cat <<'END'
usage: tools/bench.sh BENCHMARK [options]

  relay   what relays cost: throughput through 0 to 3 relays on cables of 1 Gbit/s; against kernel IP forwarding with
          nothing shaped, throughput and CPU time per byte; 8-byte latency
  fidelity
          the simulator beside the real thing: times of operations on several topologies, predicted and measured
  verbs   RDMA hops on emulated machines with soft-RoCE: beside perftest's ib_write_bw, and through relays
  convergence
          real nodes in virtual time, from power-on to one topology on all of them
  crossings
          chunks that the simulator takes over cables in a second, and how long whole operations take it
  chunk   what a relay's CPU does for one chunk over RDMA, on devices that are not there
  routes  shortest paths beside Boost.Graph's, max-min shares of 100,000 flows, all failures of a torus

tools/bench.sh BENCHMARK --help lists its options.
END
}

case ${1:-} in
  relay | verbs | fidelity | convergence | crossings | chunk | routes)
    benchmark=$1
    shift
    exec python3 "$root/tools/bench/${benchmark}_bench.py" "$@"
    ;;
  --help | -h) usage ;;
  "") usage >&2 && exit 2 ;;
  *) echo "bench.sh: unknown benchmark '$1'; tools/bench.sh --help lists them" >&2 && exit 2 ;;
esac
