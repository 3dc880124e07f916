// A hop of a flow without a network: over TCP, or over RDMA on a device in memory (fake_verbs.h). The last one, whose
// other end is a socket that the test holds; or the first one, with both of its ends.
#ifndef CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_
#define CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "core/linux/hop_link.h"
#include "core/linux/unique_fd.h"
#include "tests/core/linux/fake_verbs.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::nccl::test {

struct FakeHop {
  std::unique_ptr<linux_::HopLink> link;
  linux_::UniqueFd other_end;
};

inline FakeHop make_hop(std::unique_ptr<linux_::RdmaHalf> rdma) {
  auto [here, there] = linux_::test::connected_pair();
  linux_::HopConnection connection{std::move(here), std::move(rdma), "a test", 1U << 20};
  auto link = linux_::make_hop_link(std::move(connection), {linux_::HopPlace::kDestination, true});
  return {std::move(link).value(), std::move(there)};
}

inline FakeHop make_tcp_hop() {
  return make_hop(nullptr);
}

inline std::unique_ptr<linux_::RdmaHalf> make_half(std::shared_ptr<linux_::VerbsDevice> device,
                                                   const linux_::VerbsGid& gid) {
  auto half = std::make_unique<linux_::RdmaHalf>();
  half->queue_pair = linux_::VerbsQueuePair::create(device, gid, 1, {}, linux_::VerbsQueuePair::Idle::kPolls).value();
  half->device = std::move(device);
  return half;
}

inline void join(linux_::RdmaHalf& half, const linux_::RdmaHalf& other) {
  half.other = other.queue_pair->endpoint();
  EXPECT_TRUE(half.queue_pair->connect(half.other).ok());
}

// Of one queue pair, which is joined to nobody that answers.
inline FakeHop make_rdma_hop(std::shared_ptr<linux_::VerbsDevice> device, const linux_::VerbsGid& gid) {
  auto half = make_half(std::move(device), gid);
  join(*half, *half);
  return make_hop(std::move(half));
}

// From a source to a relay, over RDMA.
struct FakeFirstHop {
  std::unique_ptr<linux_::HopLink> source;
  std::unique_ptr<linux_::HopLink> relay;
};

inline FakeFirstHop make_first_hop(const std::shared_ptr<linux_::VerbsDevice>& device, const linux_::VerbsGid& gid) {
  auto source = make_half(device, gid);
  auto relay = make_half(device, gid);
  join(*source, *relay);
  join(*relay, *source);
  auto [here, there] = linux_::test::connected_pair();
  linux_::HopConnection from{std::move(here), std::move(source), "a test", 1U << 16};
  linux_::HopConnection to{std::move(there), std::move(relay), "a test", 1U << 16};
  return {linux_::make_hop_link(std::move(from), {linux_::HopPlace::kSource}).value(),
          linux_::make_hop_link(std::move(to), {linux_::HopPlace::kRelayUpstream}).value()};
}

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_
