// A hop of a flow without a network: over TCP, or over RDMA on a device in memory (fake_verbs.h). Either the last hop,
// whose other end is a socket that the test holds, or the first hop with both of its ends.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/circuit/circuit_setup.h"
#include "core/linux/link/hop_connection.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/tcp/tcp_transport.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::nccl::test {

// A set-up of a path of one hop.
inline CircuitSetup setup_over(const std::string& cable, const std::string& from, const std::string& to,
                               const CircuitName& circuit = {0, 1}) {
  CircuitSetup setup;
  setup.circuit = circuit;
  setup.from_node = from;
  setup.hops = {Hop{cable, "10.0.0.1", to, "10.0.0.2", 7000, false}};
  return setup;
}

struct FakeHop {
  host::HopConnection connection;
  host::UniqueFd other_end;
};

inline std::unique_ptr<host::HopLink> make_last_link(FakeHop& hop) {
  return host::make_hop_link(std::move(hop.connection), {host::HopPlace::kDestination, true}).value();
}

inline FakeHop make_hop(std::unique_ptr<host::HostEnd> end) {
  auto [here, there] = host::test::connected_pair();
  return {host::HopConnection{std::move(here), std::move(end), "a test", 1U << 20}, std::move(there)};
}

inline FakeHop make_tcp_hop() {
  return make_hop(host::make_tcp_end());
}

inline host::RdmaHalf make_half(const std::shared_ptr<host::VerbsDevice>& device, const host::VerbsGid& gid) {
  return {device, 0, host::VerbsQueuePair::create(device, gid, 1, {}, host::Idle::kPolls).value(), {}};
}

inline void join(host::RdmaHalf& half, const host::RdmaHalf& other) {
  half.other = other.queue_pair->endpoint();
  EXPECT_TRUE(half.queue_pair->connect(half.other).ok());
}

// With one queue pair, which is connected with itself and gets no answers.
inline FakeHop make_rdma_hop(const std::shared_ptr<host::VerbsDevice>& device, const host::VerbsGid& gid) {
  host::RdmaHalf half = make_half(device, gid);
  join(half, half);
  return make_hop(host::make_rdma_end(std::move(half)));
}

// From a source to a relay, over RDMA.
struct FakeFirstHop {
  host::HopConnection source;
  std::unique_ptr<host::HopLink> relay;
};

inline FakeFirstHop make_first_hop(const std::shared_ptr<host::VerbsDevice>& device, const host::VerbsGid& gid,
                                   std::uint32_t chunk_bytes = 1U << 16) {
  host::RdmaHalf source = make_half(device, gid);
  host::RdmaHalf relay = make_half(device, gid);
  join(source, relay);
  join(relay, source);
  auto [here, there] = host::test::connected_pair();
  host::HopConnection from{std::move(here), host::make_rdma_end(std::move(source)), "a test", chunk_bytes};
  host::HopConnection to{std::move(there), host::make_rdma_end(std::move(relay)), "a test", chunk_bytes};
  return {std::move(from), host::make_hop_link(std::move(to), {host::HopPlace::kRelayUpstream}).value()};
}

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_
