#!/usr/bin/env bash
# Benchmarks. Each writes its section of docs/benchmarks.md; those that need cables build a lab of their own.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  cat <<'END'
usage: tools/bench.sh BENCHMARK [options]

  relay   the cost of relays: throughput through 0 to 3 relays on cables of 1 Gbit/s; compared to kernel IP forwarding
          without rate limits, throughput and CPU time per byte; 8-byte latency
  fidelity
          the accuracy of the simulator: times of operations on several topologies, predicted and measured
  verbs   RDMA hops on emulated machines with soft-RoCE: compared to perftest's ib_write_bw, and through relays
  convergence
          real nodes in virtual time, from power-on until all have the same topology
  crossings
          the simulator's speed: chunks over cables per second, and the time of whole operations
  chunk   a relay's CPU time per chunk over RDMA, on stub devices
  failover
          the pause of a verified flow whose path dies: lost carriers, killed relays, silent cables
  multipath
          what flows gain from all of their paths, compared to one path, on rings, parallel cables, a torus, a chord, a bridge
  tuner   the tuner's choice of ring or tree for an all_reduce beside the best one, by size, on rings and a line
  operation
          what an operator waits for: views of 64 nodes, the live page, doctor's table of faults, packages to a first job
  checksum
          what checksums of chunks cost over TCP: throughput and CPU time with and without them, and their own speed
  hostile
          what attacks cost other nodes: traffic, new jobs, memory, processor time, and what is left afterwards
  soak    an hour of verified full load on busy processors: whether anything is found to have failed, or grows
  routes  shortest paths compared to Boost.Graph's, max-min shares of 100,000 flows, all failures of a torus

tools/bench.sh BENCHMARK --help lists its options.
END
}

case ${1:-} in
  relay | verbs | fidelity | convergence | crossings | chunk | checksum | routes | soak)
    benchmark=$1
    shift
    exec python3 "$root/tools/bench/${benchmark}_bench.py" "$@"
    ;;
  failover | multipath | hostile | operation | tuner)
    benchmark=$1
    shift
    exec python3 "$root/tools/bench/$benchmark/${benchmark}_bench.py" "$@"
    ;;
  --help | -h) usage ;;
  "") usage >&2 && exit 2 ;;
  *) echo "bench.sh: unknown benchmark '$1'; tools/bench.sh --help lists them" >&2 && exit 2 ;;
esac
