// Sockets between one pair of addresses.
#include "core/linux/control/control_socket.h"

#include <gtest/gtest.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "tests/core/linux/cable_in_namespaces.h"

namespace cableway::host {
namespace {

using routing::PortAddress;

constexpr std::uint16_t kPort = 7473;
constexpr std::array<std::byte, 64> kBytes{};

class ConnectedSocketTest : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void SetUp() override {
    if (const std::string why = test::why_no_network_namespaces(); !why.empty()) GTEST_SKIP() << why;
    cable_.emplace();
    near_ = open(own(), other(), cable_->near_interface());
  }
  static UniqueFd open(const PortAddress& own, const PortAddress& other, PortId interface) {
    absl::StatusOr<UniqueFd> socket = open_connected_socket(own, other, interface, kPort);
    EXPECT_TRUE(socket.ok()) << socket.status();
    return socket.ok() ? *std::move(socket) : UniqueFd();
  }
  static bool becomes_true(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  static PortAddress own() { return *routing::parse_port_address(GetParam().first); }
  static PortAddress other() { return *routing::parse_port_address(GetParam().second); }
  int send() const { return send_connected(near_.get(), kBytes); }
  // Bytes of the receive buffer that are in use.
  std::uint32_t buffered() const {
    std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t size = sizeof memory;
    EXPECT_EQ(::getsockopt(near_.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size), 0);
    return memory[SK_MEMINFO_RMEM_ALLOC];
  }

  std::optional<test::CableInNamespaces> cable_;
  UniqueFd near_;
};

TEST_P(ConnectedSocketTest, WhatThisHostsQueueDropsIsAnError) {
  cable_->at_far();
  const UniqueFd far = open(other(), own(), cable_->far_interface());
  cable_->at_near();
  EXPECT_EQ(send(), 0);
  // While the neighbour's hardware address is not known, a datagram waits for it outside the queue.
  std::array<std::byte, kMostAtOnce * kBytes.size()> buffer{};
  std::array<Arrival, kMostAtOnce> arrivals;
  ASSERT_TRUE(becomes_true([&] {
    return std::holds_alternative<std::size_t>(receive_datagrams(far.get(), buffer, kBytes.size(), arrivals));
  }));
  test::tc("qdisc add dev near root pfifo limit 0");
  EXPECT_EQ(send(), ENOBUFS);
  test::tc("qdisc del dev near root");
  EXPECT_EQ(send(), 0);
}

TEST_P(ConnectedSocketTest, ARefusalIsReportedAndForgotten) {
  EXPECT_EQ(send(), 0);
  ASSERT_TRUE(becomes_true([&] { return buffered() > 0; })) << "no socket there has the port";
  EXPECT_EQ(send(), ECONNREFUSED);
  forget_refused(near_.get());
  EXPECT_EQ(buffered(), 0U);
  EXPECT_EQ(send(), 0);
}

INSTANTIATE_TEST_SUITE_P(BothFamilies, ConnectedSocketTest,
                         testing::Values(std::pair("10.9.0.1", "10.9.0.2"), std::pair("fd00:9::1", "fd00:9::2")),
                         [](const auto& each) { return each.index == 0 ? "IPv4" : "IPv6"; });

}  // namespace
}  // namespace cableway::host
