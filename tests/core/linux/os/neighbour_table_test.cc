// Two hosts on one wire, a bridge: one has an interface there, the other two, with an address each. Which of the two
// answers for an address decides where the kernel sends; the table shows that, and can correct it.
#include "core/linux/os/neighbour_table.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/linux/os/unique_fd.h"
#include "tests/core/linux/network_namespace.h"
#include "tests/core/linux/unprivileged_child.h"

namespace cableway::host {
namespace {

class NeighbourTableTest : public testing::Test {
 protected:
  // Of the interface with 10.7.0.2 and fd07::2, and of the other one of that host.
  static constexpr char kRight[] = "02:00:00:00:00:20";
  static constexpr char kTwin[] = "02:00:00:00:00:21";

  static routing::PortAddress address(const std::string& text) { return routing::parse_port_address(text).value(); }

  void SetUp() override {
    const std::string why = test::why_no_network_namespaces();
    if (!why.empty()) GTEST_SKIP() << why;
    // The wire is a bridge in a namespace of its own: in a host's, the bridge would answer for the host's address.
    wire_.emplace();
    test::ip("link add wire type bridge\nlink set wire up");
    other_.emplace();
    own_.emplace();
    join_wire(*own_, "eth1", "02:00:00:00:00:10");
    test::ip("address add 10.7.0.1/24 dev eth1\naddress add fd07::1/64 dev eth1 nodad");
    index_ = ::if_nametoindex("eth1");
    other_->enter();
    join_wire(*other_, "eth1", kRight);
    join_wire(*other_, "eth2", kTwin);
    test::ip(
        "address add 10.7.0.2/24 dev eth1\naddress add 10.7.1.2/24 dev eth2\n"
        "address add fd07::2/64 dev eth1 nodad\naddress add fd08::2/64 dev eth2 nodad");
    // It answers, but sends no requests: these would give this host the right address.
    test::ip("neigh add 10.7.0.1 lladdr 02:00:00:00:00:10 dev eth1 nud permanent");
    own_->enter();
  }

  // An interface of the host whose namespace the thread is in, with the kernel's defaults.
  void join_wire(const test::NetworkNamespace& host, const std::string& name, const std::string& ethernet) const {
    const std::string port = absl::StrCat("p", ethernet.substr(15));
    test::ip(absl::StrCat("link add ", name, " address ", ethernet, " type veth peer name ", port, " netns ",
                          wire_->path(), "\nlink set ", name, " up"));
    for (const char* const which : {"all", "default"}) {
      test::set_sysctl(absl::StrCat("ipv4/conf/", which, "/rp_filter"), "0");
      test::set_sysctl(absl::StrCat("ipv4/conf/", which, "/arp_ignore"), "0");
    }
    for (const char* const what : {"/rp_filter", "/arp_ignore"}) {
      test::set_sysctl(absl::StrCat("ipv4/conf/", name, what), "0");
    }
    wire_->enter();
    test::ip(absl::StrCat("link set ", port, " master wire up"));
    test::wait_until_running(port);
    host.enter();
    test::wait_until_running(name);
  }

  // Sends a datagram, for which the kernel resolves the address.
  static void send_to(const std::string& text) {
    const routing::PortAddress to = address(text);
    const UniqueFd socket(::socket(to.is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage where{};
    socklen_t size = sizeof(sockaddr_in);
    if (to.is_ipv6) {
      size = sizeof(sockaddr_in6);
      auto& ipv6 = reinterpret_cast<sockaddr_in6&>(where);
      ipv6.sin6_family = AF_INET6;
      ipv6.sin6_port = htons(9);
      std::memcpy(&ipv6.sin6_addr, to.bytes.data(), 16);
    } else {
      auto& ipv4 = reinterpret_cast<sockaddr_in&>(where);
      ipv4.sin_family = AF_INET;
      ipv4.sin_port = htons(9);
      std::memcpy(&ipv4.sin_addr, to.bytes.data(), 4);
    }
    // May return the error of an earlier datagram.
    static_cast<void>(::sendto(socket.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&where), size));
  }

  // What the kernel has for an address: "" for nothing.
  std::string entry(const std::string& of) const {
    const auto found = kernel_neighbours().find(index_, address(of));
    if (!found.ok()) return std::string(found.status().message());
    return found->has_value() ? to_text(**found) : "";
  }

  // The kernel's entry after it has resolved an address.
  std::string learnt(const std::string& of) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (entry(of).empty() && std::chrono::steady_clock::now() < end) {
      send_to(of);
      ::usleep(10000);
    }
    return entry(of);
  }

  void in_other_host(const std::string& sysctl, const std::string& value) const {
    other_->enter();
    test::set_sysctl(sysctl, value);
    own_->enter();
  }

  std::optional<test::NetworkNamespace> wire_;
  std::optional<test::NetworkNamespace> other_;
  std::optional<test::NetworkNamespace> own_;
  std::uint32_t index_ = 0;
};

// As on a split port by default: the right interface is silent here, so that only the other one answers.
TEST_F(NeighbourTableTest, TheOtherInterfaceAnswersByDefaultAndTheEntryCanBeCorrected) {
  EXPECT_EQ(entry("10.7.0.2"), "");
  in_other_host("ipv4/conf/eth1/arp_ignore", "8");
  EXPECT_EQ(learnt("10.7.0.2"), kTwin);
  ASSERT_TRUE(kernel_neighbours().set(index_, address("10.7.0.2"), *parse_ethernet_address(kRight)).ok());
  EXPECT_EQ(entry("10.7.0.2"), kRight);
  send_to("10.7.0.2");
  EXPECT_EQ(entry("10.7.0.2"), kRight) << "the kernel sends no ARP request";
}

TEST_F(NeighbourTableTest, OnlyTheRightInterfaceAnswersWithArpIgnore) {
  in_other_host("ipv4/conf/all/arp_ignore", "1");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(learnt("10.7.0.2"), kRight);
    test::ip("neigh flush dev eth1");
  }
}

TEST_F(NeighbourTableTest, OnlyTheRightInterfaceAnswersForIpv6) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(learnt("fd07::2"), kRight);
    test::ip("neigh flush dev eth1");
  }
}

TEST_F(NeighbourTableTest, AMissingEntryIsMade) {
  for (const std::string of : {"10.7.0.9", "fd07::9"}) {
    EXPECT_EQ(entry(of), "");
    ASSERT_TRUE(kernel_neighbours().set(index_, address(of), *parse_ethernet_address(kRight)).ok());
    EXPECT_EQ(entry(of), kRight);
  }
}

TEST_F(NeighbourTableTest, AnAddressThatDoesNotAnswerHasNoEthernetAddress) {
  send_to("10.7.0.9");
  EXPECT_EQ(entry("10.7.0.9"), "");
}

TEST_F(NeighbourTableTest, AnUnprivilegedProcessMayReadItOnly) {
  const routing::PortAddress there = address("10.7.0.2");
  const EthernetAddress right = parse_ethernet_address(kRight).value();
  ASSERT_TRUE(kernel_neighbours().set(index_, there, right).ok());
  const int status = test::status_of_child([&] {
    // A new user namespace has no rights in the network namespace of the old one.
    if (::geteuid() == 0) CHILD_REQUIRE(::unshare(CLONE_NEWUSER) == 0);
    const auto found = kernel_neighbours().find(index_, there);
    CHILD_REQUIRE(found.ok() && found->has_value() && **found == right);
    CHILD_REQUIRE(absl::IsPermissionDenied(kernel_neighbours().set(index_, there, right)));
  });
  EXPECT_EQ(status, 0);
}

TEST_F(NeighbourTableTest, AnInterfaceThatIsGoneIsAnError) {
  const auto set = kernel_neighbours().set(4000, address("10.7.0.2"), *parse_ethernet_address(kRight));
  EXPECT_TRUE(absl::IsUnavailable(set)) << set;
}

}  // namespace
}  // namespace cableway::host
