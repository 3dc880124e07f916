// A flow's last hop without a network: over TCP, or over RDMA on a device in memory (fake_verbs.h), whose other end is
// a socket that the test holds.
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

// Of one queue pair, which is joined to nobody that answers.
inline FakeHop make_rdma_hop(std::shared_ptr<linux_::VerbsDevice> device, const linux_::VerbsGid& gid) {
  auto half = std::make_unique<linux_::RdmaHalf>();
  half->queue_pair = linux_::VerbsQueuePair::create(device, gid, 1, {}, linux_::VerbsQueuePair::Idle::kPolls).value();
  half->device = std::move(device);
  half->other = half->queue_pair->endpoint();
  EXPECT_TRUE(half->queue_pair->connect(half->other).ok());
  return make_hop(std::move(half));
}

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_NCCL_ADAPTER_FAKE_HOP_H_
