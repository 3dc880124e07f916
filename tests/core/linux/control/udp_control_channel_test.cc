// Channels that receive each other's datagrams, and the datagrams that they reject.
#include "core/linux/control/udp_control_channel.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/discovery/full_size_hellos.h"
#include "core/linux/control/control_socket.h"
#include "core/linux/os/unique_fd.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

routing::PortAddress address(const std::string& text) {
  return routing::parse_port_address(text).value();
}

// A port on an interface of the thread's namespace.
PortFacts port_on(const std::string& interface, const std::vector<std::string>& addresses) {
  PortFacts port;
  port.id = ::if_nametoindex(interface.c_str());
  EXPECT_NE(port.id, 0U) << interface;
  port.interface = interface;
  port.carrier = true;
  for (const std::string& text : addresses) {
    port.addresses.push_back({address(text), static_cast<std::uint8_t>(address(text).is_ipv6 ? 64 : 24)});
  }
  return port;
}

// A channel and what it received: "from text".
struct Node {
  Node(boost::asio::io_context& io, std::vector<PortFacts> facts, std::uint16_t udp_port = kDefaultControlPort)
      : channel(io, udp_port), port(facts.at(0).id) {
    channel.update_ports(std::move(facts));
    channel.listen([this](const ReceivedDatagram& datagram) {
      const std::string text(reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size());
      heard.push_back(absl::StrCat(to_text(datagram.from), " ", text.size() > 100 ? "much" : text));
      from.push_back(datagram.from);
      ports.push_back(datagram.port);
      sizes.push_back(text.size());
      waited.push_back(datagram.waited);
    });
  }
  void send_hello(const std::string& text) { channel.send_to_all(port, bytes_of(text)); }
  PortControlCounters counters() const { return channel.counters().ports.at(0); }

  UdpControlChannel channel;
  PortId port;
  std::vector<std::string> heard;
  std::vector<routing::PortAddress> from;
  std::vector<PortId> ports;
  std::vector<std::size_t> sizes;
  std::vector<Duration> waited;
};

class UdpControlChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = test::why_no_network_namespaces();
    if (!why.empty()) GTEST_SKIP() << why;
    near_ = std::make_unique<test::NetworkNamespace>();
  }
  bool comes_true(const std::function<bool()>& holds) { return test::runs_until(io_, holds); }
  // Nodes a and b, each in a namespace, with eth1 and far1 between them.
  void join_two(const std::vector<std::string>& near_addresses, const std::vector<std::string>& far_addresses) {
    far_ = std::make_unique<test::NetworkNamespace>();
    near_->enter();
    test::set_sysctl("ipv6/conf/default/addr_gen_mode", "1");
    test::ip(absl::StrCat("link add eth1 type veth peer name far1\nlink set far1 netns ", far_->path()));
    configure("eth1", near_addresses);
    far_->enter();
    test::set_sysctl("ipv6/conf/far1/addr_gen_mode", "1");
    configure("far1", far_addresses);
    test::wait_until_running("far1");
    b_ = std::make_unique<Node>(io_, std::vector{port_on("far1", far_addresses)});
    near_->enter();
    test::wait_until_running("eth1");
    a_ = std::make_unique<Node>(io_, std::vector{port_on("eth1", near_addresses)});
    EXPECT_THAT(a_->counters().not_open, IsEmpty());
    EXPECT_THAT(b_->counters().not_open, IsEmpty());
  }
  static void configure(const std::string& interface, const std::vector<std::string>& addresses) {
    test::ip(absl::StrCat("link set ", interface, " up"));
    for (const std::string& text : addresses) {
      const std::string bare = text.substr(0, text.find('%'));
      const bool is_ipv6 = text.find(':') != std::string::npos;
      test::ip(absl::StrCat("addr add ", bare, is_ipv6 ? "/64 nodad" : "/24", " dev ", interface));
    }
  }
  void send_to(std::span<const char* const> addresses) {
    for (const char* to : addresses) a_->channel.send(a_->port, address(to), bytes_of("to you"));
  }
  // The kernel starts to stamp arrivals in a work queue, some time after a socket has asked for it; datagrams that
  // arrive earlier get the time at which they are read. The first datagrams to an address leave when its Ethernet
  // address is known, which takes a second if a solicitation is lost.
  void wait_until_arrivals_are_stamped(std::span<const char* const> addresses) {
    const auto shortest = [&] { return *std::min_element(b_->waited.begin(), b_->waited.end()); };
    for (int attempt = 0; attempt < 1000; ++attempt) {
      b_->waited.clear();
      send_to(addresses);
      std::this_thread::sleep_for(5ms);
      ASSERT_TRUE(comes_true([&] { return b_->waited.size() == addresses.size(); }));
      if (shortest() >= 4ms) break;
    }
    ASSERT_GE(shortest(), 4ms) << "the kernel does not stamp arrivals";
    b_->waited.clear();
  }
  // A socket not made by a channel, on loopback, bound to an address.
  static UniqueFd untrusted_peer(const std::string& own, std::uint16_t udp_port, int ttl) {
    UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_port = htons(udp_port);
    ::inet_pton(AF_INET, own.c_str(), &from.sin_addr);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0) << std::strerror(errno);
    EXPECT_EQ(::setsockopt(socket.get(), IPPROTO_IP, IP_TTL, &ttl, sizeof ttl), 0);
    return socket;
  }
  static void send_from(const UniqueFd& socket, const std::string& to, std::size_t bytes) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(kDefaultControlPort);
    ::inet_pton(AF_INET, to.c_str(), &where.sin_addr);
    const std::string text(bytes, 'x');
    EXPECT_EQ(
        ::sendto(socket.get(), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&where), sizeof where),
        static_cast<ssize_t>(bytes))
        << std::strerror(errno);
  }

  boost::asio::io_context io_;
  std::unique_ptr<test::NetworkNamespace> near_;
  std::unique_ptr<test::NetworkNamespace> far_;
  std::unique_ptr<Node> a_;
  std::unique_ptr<Node> b_;
};

TEST_F(UdpControlChannelTest, TwoHostsHearEachOtherByIpv4) {
  join_two({"10.7.0.1"}, {"10.7.0.2"});
  a_->send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return !b_->heard.empty(); }));
  EXPECT_THAT(b_->heard, ElementsAre("10.7.0.1 hello"));
  EXPECT_THAT(b_->ports, ElementsAre(b_->port));
  b_->channel.send(b_->port, b_->from[0], bytes_of("to you"));
  ASSERT_TRUE(comes_true([&] { return !a_->heard.empty(); }));
  EXPECT_THAT(a_->heard, ElementsAre("10.7.0.2 to you"));
  EXPECT_EQ(a_->counters().sent, 1U);
  EXPECT_EQ(a_->counters().received, 1U);
  EXPECT_EQ(a_->counters().own, 0U);
}

TEST_F(UdpControlChannelTest, KnowsHowLongADatagramHasWaited) {
  join_two({"10.7.0.1", "fe80::1%eth1"}, {"10.7.0.2", "fe80::2%far1"});
  constexpr std::array kAddresses{"10.7.0.2", "fe80::2%eth1"};
  wait_until_arrivals_are_stamped(kAddresses);
  const auto began = std::chrono::steady_clock::now();
  a_->send_hello("to the group");
  send_to(kAddresses);
  std::this_thread::sleep_for(50ms);  // as a busy thread
  ASSERT_TRUE(comes_true([&] { return b_->waited.size() == 4; }));
  const Duration whole = std::chrono::steady_clock::now() - began;
  for (const Duration waited : b_->waited) {
    EXPECT_GE(waited, 49ms) << "sleeps and clocks may differ a little";
    EXPECT_LE(waited, whole + 1ms);
  }
}

TEST_F(UdpControlChannelTest, LinkLocalAddressesSuffice) {
  join_two({"fe80::1%eth1"}, {"fe80::2%far1"});
  a_->send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return !b_->heard.empty(); }));
  EXPECT_THAT(b_->heard, ElementsAre("fe80::1%far1 hello"));
  b_->channel.send(b_->port, b_->from[0], bytes_of("to you"));
  ASSERT_TRUE(comes_true([&] { return !a_->heard.empty(); }));
  EXPECT_THAT(a_->heard, ElementsAre("fe80::2%eth1 to you"));
}

TEST_F(UdpControlChannelTest, SendsAHelloOncePerFamilyAndAnswersFromTheMatchingAddress) {
  join_two({"10.7.0.1", "10.8.0.1", "fd00::1", "fe80::1%eth1"}, {"10.8.0.2", "fd00::2", "fe80::2%far1"});
  a_->send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 2; }));
  EXPECT_THAT(b_->heard, testing::UnorderedElementsAre("10.7.0.1 hello", "fe80::1%far1 hello"));
  a_->channel.send(a_->port, address("10.8.0.2"), bytes_of("4"));
  a_->channel.send(a_->port, address("fd00::2"), bytes_of("6"));
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 4; }));
  EXPECT_THAT(b_->heard, Contains("10.8.0.1 4"));
  EXPECT_THAT(b_->heard, Contains("fd00::1 6"));
}

TEST_F(UdpControlChannelTest, ReceivesHellosFromAnotherSubnet) {
  join_two({"10.7.0.1"}, {"192.168.9.2"});
  a_->send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return !b_->heard.empty(); }));
  EXPECT_THAT(b_->heard, ElementsAre("10.7.0.1 hello"));
}

TEST_F(UdpControlChannelTest, TheLargestDatagramArrivesWhole) {
  join_two({"10.7.0.1", "fe80::1%eth1"}, {"10.7.0.2", "fe80::2%far1"});
  a_->channel.send(a_->port, address("10.7.0.2"), bytes_of(std::string(kMaxDatagramBytes, 'x')));
  a_->channel.send(a_->port, address("fe80::2%eth1"), bytes_of(std::string(kMaxDatagramBytes, 'x')));
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 2; }));
  EXPECT_THAT(b_->sizes, ElementsAre(kMaxDatagramBytes, kMaxDatagramBytes));
  a_->channel.send(a_->port, address("10.7.0.2"), bytes_of(std::string(kMaxDatagramBytes + 1, 'x')));
  EXPECT_EQ(a_->counters().oversized, 1U);
  EXPECT_EQ(a_->counters().sent, 2U);
}

TEST_F(UdpControlChannelTest, AHelloOfOneFamilyIsSentInThatOnly) {
  join_two({"10.7.0.1", "fe80::1%eth1"}, {"10.7.0.2", "fe80::2%far1"});
  a_->channel.send_to_family(a_->port, true, bytes_of("6"));
  a_->channel.send_to_family(a_->port, false, bytes_of("4"));
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 2; }));
  EXPECT_THAT(b_->heard, testing::UnorderedElementsAre("10.7.0.1 4", "fe80::1%far1 6"));
  a_->channel.update_ports({port_on("eth1", {"10.7.0.1"})});
  a_->channel.send_to_family(a_->port, true, bytes_of("6"));
  EXPECT_EQ(a_->counters().sent, 2U);
  EXPECT_THAT(a_->counters().send_errors, IsEmpty()) << "it has no address of that family";
}

// A datagram that the port's MTU has room for is not fragmented, even if the interface has a lower MTU by now.
TEST_F(UdpControlChannelTest, WhatFitsTheMtuIsOnePacket) {
  join_two({"10.7.0.1", "fe80::1%eth1"}, {"10.7.0.2", "fe80::2%far1"});
  PortFacts port = port_on("eth1", {"10.7.0.1", "fe80::1%eth1"});
  port.mtu = 1500;
  a_->channel.update_ports({port});
  for (const bool is_ipv6 : {false, true}) {
    const std::size_t full = full_size_bytes(port.mtu, is_ipv6);
    near_->enter();
    test::ip("link set eth1 mtu 1500");
    b_->sizes.clear();
    a_->channel.send_to_family(a_->port, is_ipv6, bytes_of(std::string(full, 'x')));
    a_->channel.send_to_family(a_->port, is_ipv6, bytes_of(std::string(full + 1, 'x')));
    ASSERT_TRUE(comes_true([&] { return b_->sizes.size() == 2; }));
    EXPECT_THAT(b_->sizes, ElementsAre(full, full + 1)) << "the second in fragments";
    const std::uint64_t refused = a_->counters().send_errors[EMSGSIZE];
    test::ip("link set eth1 mtu 1499");
    a_->channel.send_to_family(a_->port, is_ipv6, bytes_of(std::string(full, 'x')));
    EXPECT_EQ(a_->counters().send_errors[EMSGSIZE], refused + 1);
    EXPECT_THAT(a_->counters().last_error, HasSubstr("Message too long"));
    a_->channel.send_to_family(a_->port, is_ipv6, bytes_of(std::string(full - 1, 'x')));
    ASSERT_TRUE(comes_true([&] { return b_->sizes.size() == 3; }));
    EXPECT_EQ(b_->sizes.back(), full - 1);
  }
}

TEST_F(UdpControlChannelTest, SeveralNodesShareLoopback) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo\naddr add 10.9.0.3/24 dev lo");
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  Node b(io_, {port_on("lo", {"10.9.0.2"})});
  Node c(io_, {port_on("lo", {"10.9.0.3"})});
  a.send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return !b.heard.empty() && !c.heard.empty() && a.counters().own == 1; }));
  EXPECT_THAT(b.heard, ElementsAre("10.9.0.1 hello"));
  EXPECT_THAT(c.heard, ElementsAre("10.9.0.1 hello"));
  EXPECT_THAT(a.heard, IsEmpty()) << "its own datagram";
  c.channel.send(c.port, address("10.9.0.1"), bytes_of("to a"));
  ASSERT_TRUE(comes_true([&] { return !a.heard.empty(); }));
  EXPECT_THAT(a.heard, ElementsAre("10.9.0.3 to a"));
  EXPECT_THAT(b.heard, SizeIs(1)) << "addressed to another node";
}

TEST_F(UdpControlChannelTest, DropsAndCountsOversizedDatagrams) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  const UniqueFd large = untrusted_peer("10.9.0.2", kDefaultControlPort, kControlTtl);
  send_from(large, "10.9.0.1", kMaxDatagramBytes + 1);
  send_from(large, "10.9.0.1", 0);
  send_from(large, "10.9.0.1", 7);
  ASSERT_TRUE(comes_true([&] { return a.heard.size() == 2; }));
  EXPECT_EQ(a.counters().oversized, 1U);
  EXPECT_THAT(a.heard, ElementsAre("10.9.0.2 ", "10.9.0.2 xxxxxxx")) << "the listener judges the contents";
}

TEST_F(UdpControlChannelTest, DropsAndCountsRoutedDatagrams) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  send_from(untrusted_peer("10.9.0.2", kDefaultControlPort, 254), "10.9.0.1", 7);
  ASSERT_TRUE(comes_true([&] { return a.counters().ttl_refused == 1; }));
  EXPECT_THAT(a.heard, IsEmpty());
}

TEST_F(UdpControlChannelTest, DropsAndCountsDatagramsFromOtherPorts) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  send_from(untrusted_peer("10.9.0.2", 9999, kControlTtl), "10.9.0.1", 7);
  ASSERT_TRUE(comes_true([&] { return a.counters().foreign == 1; }));
  EXPECT_THAT(a.heard, IsEmpty());
}

TEST_F(UdpControlChannelTest, DropsAndCountsDatagramsFromAnotherInterface) {
  join_two({"10.7.0.1"}, {"10.7.0.2"});
  // b has an address of a's that is loopback's instead of eth1's; a's host accepts it on any interface.
  near_->enter();
  test::ip("addr add 10.9.0.1/24 dev lo");
  a_ = std::make_unique<Node>(io_, std::vector{port_on("lo", {"10.9.0.1"})});
  b_->channel.send(b_->port, address("10.9.0.1"), bytes_of("x"));
  far_->enter();
  test::ip("route add 10.9.0.1/32 via 10.7.0.1");
  b_->channel.send(b_->port, address("10.9.0.1"), bytes_of("x"));
  ASSERT_TRUE(comes_true([&] { return a_->counters().foreign >= 1; }));
  EXPECT_THAT(a_->heard, IsEmpty());
}

TEST_F(UdpControlChannelTest, RetriesWhileThePortIsTaken) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  UniqueFd taken = untrusted_peer("10.9.0.1", kDefaultControlPort, 64);
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  Node b(io_, {port_on("lo", {"10.9.0.2"})});
  EXPECT_THAT(a.counters().not_open,
              ElementsAre(testing::AllOf(HasSubstr("10.9.0.1 UDP port 7471"), HasSubstr("in use"))));
  a.send_hello("no node receives this");
  EXPECT_EQ(a.counters().send_errors, (std::map<int, std::uint64_t>{{EADDRNOTAVAIL, 1}}));
  taken.reset();
  ASSERT_TRUE(comes_true([&] { return a.counters().not_open.empty(); }));
  a.send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return !b.heard.empty(); }));
  EXPECT_THAT(b.heard, ElementsAre("10.9.0.1 hello"));
}

TEST_F(UdpControlChannelTest, FollowsChangesOfPorts) {
  join_two({"10.7.0.1", "fe80::1%eth1"}, {"10.7.0.2", "fe80::2%far1"});
  a_->send_hello("1");
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 2; }));
  // Without its link-local address; the other socket and the counters remain.
  a_->channel.update_ports({port_on("eth1", {"10.7.0.1"})});
  a_->send_hello("2");
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 3; }));
  EXPECT_EQ(a_->counters().sent, 3U);
  a_->channel.update_ports({});
  EXPECT_THAT(a_->channel.counters().ports, IsEmpty());
  a_->send_hello("3");
  a_->channel.update_ports({port_on("eth1", {"10.7.0.1"})});
  a_->send_hello("4");
  ASSERT_TRUE(comes_true([&] { return b_->heard.size() == 4; }));
  EXPECT_EQ(b_->heard.back(), "10.7.0.1 4");
}

TEST_F(UdpControlChannelTest, CountsSendErrorsAndContinues) {
  join_two({"10.7.0.1"}, {"10.7.0.2"});
  near_->enter();
  test::ip("link set eth1 down");
  a_->send_hello("to an interface that is down");
  EXPECT_EQ(a_->counters().sent, 0U);
  EXPECT_THAT(a_->counters().send_errors, SizeIs(1));
  EXPECT_THAT(a_->counters().last_error, HasSubstr("cannot send to 224.0.0.177: Network is"));
  test::ip("link set eth1 up");
  EXPECT_TRUE(comes_true([&] {
    a_->send_hello("again");
    return !b_->heard.empty();
  }));
}

TEST_F(UdpControlChannelTest, AListenerMayDestroyTheChannel) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  auto a = std::make_unique<Node>(io_, std::vector{port_on("lo", {"10.9.0.1"})});
  Node b(io_, {port_on("lo", {"10.9.0.2"})});
  int heard = 0;
  a->channel.listen([&](const ReceivedDatagram&) {
    ++heard;
    a.reset();
  });
  for (int i = 0; i < 3; ++i) b.send_hello("hello");
  ASSERT_TRUE(comes_true([&] { return a == nullptr; }));
  io_.restart();
  io_.poll();
  EXPECT_EQ(heard, 1);
}

TEST_F(UdpControlChannelTest, OneSocketsBurstDoesNotStarveOthers) {
  test::ip("addr add 10.9.0.1/24 dev lo\naddr add 10.9.0.2/24 dev lo");
  Node a(io_, {port_on("lo", {"10.9.0.1"})});
  Node b(io_, {port_on("lo", {"10.9.0.2"})});
  for (int i = 0; i < 100; ++i) b.channel.send(b.port, address("10.9.0.1"), bytes_of("x"));
  ASSERT_TRUE(comes_true([&] { return !a.heard.empty(); }));
  EXPECT_EQ(a.heard.size(), 64U);
  ASSERT_TRUE(comes_true([&] { return a.heard.size() == 100; }));
}

TEST_F(UdpControlChannelTest, SleepsWhileNothingArrives) {
  test::ip("addr add 10.9.0.1/24 dev lo");
  const Node a(io_, {port_on("lo", {"10.9.0.1"})});
  io_.poll();
  EXPECT_EQ(io_.run_for(std::chrono::milliseconds(100)), 0U);
}

}  // namespace
}  // namespace cableway::host
