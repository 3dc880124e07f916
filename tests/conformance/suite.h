// The conformance and endurance suite of the net plugin: what NCCL may rely on, each case for every version of the
// table. Each failure is checked for its result code and for the reason that the operator sees through NCCL's logger.
//
// Read as a contract:
//
//   file (here, or in tests/nccl_adapter)   what it tests
//   plugin_flow_test            device and properties, every size, order, 32 requests outstanding, neither call blocks
//   plugin_failure_test         sends larger than their receive, memory outside its registration, abort, a peer's close
//   plugin_lifecycle_test       load, unload, finalize, init where no node can be started, wrong settings
//   plugin_tables_test          the tables of the tuner and of the environment
//   plugin_relay_test           the same bytes over a relay; a killed relay, a killed peer; garbage on every port
//   handle_test                 handles that are zero, cut, flipped, of another version, without a listener
//   unreachable_test            which node could not be reached, and from which
//   abort_test                  connections that are aborted half-way, at either end
//   memory_test                 deregistered memory is not accessed, whatever was in flight
//   listen_test                 one listen comm for several peers, and for several connections of one peer
//   parallel_test               communicators on separate threads
//   all_to_all_test             several ranks a node; jobs on some of the nodes
//   fork_test                   children that exit, exec or live on
//   peer_death_test             peers that are killed, or stopped
//   silence_test                peers that are silent for longer than the limit for dead ones
//   node_restart_test           a node that restarts
//   reported_test               the flows that a node lists for its processes
//   lease_test                  leases of an idle flow return to the relay's pool
//   hostile_test                untrusted peers at the data TCP ports and at the relay TCP port
//   lost_answer_test            circuits that are lost together with an answer of their destination
//   sealed_test                 a cluster with a key, and peers without it
//   limits_test                 more of everything than the limits; a relay without room
//   endurance_test              thousands of connections, flat memory, flat descriptors
//   long_test (label system)    silence of minutes, more connections than there are TCP ports
//
// tests/system/verbs_conformance_test.py runs most of them over RDMA as well, with nodes and ranks on several guests.
//
// The plugin is loaded with dlopen and nothing else; every rank is a separate process (rank_process.h).
#ifndef CABLEWAY_TESTS_CONFORMANCE_SUITE_H_
#define CABLEWAY_TESTS_CONFORMANCE_SUITE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/conformance/ranks/rank_process.h"
#include "tests/conformance/ranks/traffic.h"
#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"
#include "tests/slow_build.h"

namespace cableway::nccl::test {

using cableway::test::kSlowBuild;

// Under the address sanitizer a version without a context, under the thread sanitizer one with: the others are thin
// tables over the same code, which tests/nccl_adapter/plugin calls in every build.
inline auto every_abi() {
#if defined(CABLEWAY_ADDRESS_SANITIZER)
  return testing::Values(8);
#elif defined(__SANITIZE_THREAD__)
  return testing::Values(11);
#else
  return testing::Values(8, 9, 10, 11, 12);
#endif
}
// For cases that wait for seconds and are about nodes, hosts and peers, not about the table: the versions that differ
// most.
inline auto oldest_and_newest_abi() {
#if defined(CABLEWAY_ADDRESS_SANITIZER) || defined(__SANITIZE_THREAD__)
  return every_abi();
#else
  return testing::Values(8, 12);
#endif
}
// The versions with a context per communicator and a finalize.
inline auto abis_with_finalize() {
  return testing::Values(11, 12);
}
inline std::string abi_name(const testing::TestParamInfo<int>& version) {
  return "V" + std::to_string(version.param);
}

// Expects that the plugin has logged this reason in the calling process.
inline void expect_warning(const std::string& reason) {
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr(reason)));
}
// A flow's failure that names `place` as its cause, or as where the end of the other end was seen.
inline testing::Matcher<std::string> failed_at(const std::string& flow, const std::string& place) {
  const std::string failed = flow + " failed: ";
  return testing::AnyOf(testing::HasSubstr(failed + place),
                        testing::HasSubstr(failed + "its other end has ended (seen here as: " + place));
}
inline void expect_failure(const std::string& flow, const std::string& place) {
  EXPECT_THAT(warnings(), testing::Contains(failed_at(flow, place)));
}

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_SUITE_H_
