// Questions to the kernel at the other end of a cable, which is a pair of interfaces in two namespaces.
#include "core/linux/pulse/kernel_probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "tests/core/linux/cable_in_namespaces.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kNobodysPort = 7472;

Instant kernel_time() {
  return Instant{std::chrono::steady_clock::now().time_since_epoch()};
}

class KernelProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::why_no_network_namespaces(); !why.empty()) GTEST_SKIP() << why;
    cable_.emplace();
  }

  void ask(const std::string& own, const std::string& other) {
    probe_.ask(cable_->near_interface(), *routing::parse_port_address(own), *routing::parse_port_address(other),
               kNobodysPort, kernel_time());
  }
  // Whether the answer arrives, of one question after the other.
  bool is_answered_within(std::chrono::milliseconds patience, const std::string& own, const std::string& other) {
    const Instant end = kernel_time() + patience;
    while (kernel_time() < end) {
      ask(own, other);
      std::this_thread::sleep_for(1ms);
      if (probe_.answered()) return true;
    }
    return false;
  }

  std::optional<test::CableInNamespaces> cable_;
  KernelProbe probe_;
};

TEST_F(KernelProbeTest, AKernelAnswersWithoutAProcess) {
  EXPECT_TRUE(is_answered_within(10s, "10.9.0.1", "10.9.0.2"));
  EXPECT_TRUE(is_answered_within(10s, "fd00:9::1", "fd00:9::2"));
}

TEST_F(KernelProbeTest, AnAnswerCountsOnce) {
  EXPECT_FALSE(probe_.answered());
  ASSERT_TRUE(is_answered_within(10s, "10.9.0.1", "10.9.0.2"));
  EXPECT_FALSE(probe_.answered());
}

TEST_F(KernelProbeTest, ASilentCableDoesNotAnswer) {
  ASSERT_TRUE(is_answered_within(10s, "10.9.0.1", "10.9.0.2"));
  cable_->set_far("down");
  EXPECT_FALSE(is_answered_within(300ms, "10.9.0.1", "10.9.0.2"));
}

TEST_F(KernelProbeTest, AnAddressThatNobodyHasDoesNotAnswer) {
  // Longer than the kernel looks for its link address, which then fails here, as an error of this host.
  test::set_sysctl("ipv4/neigh/near/retrans_time_ms", "20");
  EXPECT_FALSE(is_answered_within(500ms, "10.9.0.1", "10.9.0.77"));
}

TEST_F(KernelProbeTest, AQuestionThatCannotBeAskedIsNotAnswered) {
  EXPECT_FALSE(is_answered_within(100ms, "10.9.0.99", "10.9.0.2"));
  EXPECT_FALSE(is_answered_within(100ms, "10.9.0.1", "fd00:9::2"));
}

}  // namespace
}  // namespace cableway::host
