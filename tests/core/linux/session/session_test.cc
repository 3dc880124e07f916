// Both ends of the session socket, with each other and against a peer that the test controls.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/gate/shared_port_stamps.h"
#include "core/linux/session/session_client.h"
#include "core/linux/session/session_listener.h"
#include "core/linux/session/session_names.h"
#include "core/linux/session/session_server.h"
#include "core/session/session_shares.h"
#include "core/wire.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/session/session_test_names.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Reply = absl::StatusOr<SessionMessage>;

class SessionTest : public testing::Test {
 protected:
  SessionTest() : names_(test::names_of_this_test()), endpoint_(abstract_endpoint(names_.own)) {}

  void listen() {
    auto listeners = open_session_listeners(names_, std::nullopt);
    ASSERT_TRUE(listeners.ok()) << listeners.status();
    server_ = SessionServer::start(
        io_, std::move(listeners->all), welcome_,
        [this](const SessionPeer& peer, const SessionMessage& request, const SessionServer::Answer& answer) {
          EXPECT_EQ(peer.user, getuid());
          ++requests_;
          if (const auto* path = std::get_if<PathRequest>(&request)) {
            return answer(PathReply{path->request, "no path to " + path->node, {}});
          }
          if (std::holds_alternative<ViewRequest>(request)) return answer(ViewReply{"", view_});
          if (const auto* drain = std::get_if<DrainRequest>(&request))
            return answer(DrainReply{"no cable " + drain->cable});
          answer(Refusal{"not a request that a node answers"});
        },
        {[this](const SessionPeer& peer, const SessionMessage& report) {
           reported_.emplace_back(peer, report);
           return report_status_;
         },
         [this](const SessionPeer& peer) { left_.push_back(peer.session); },
         [this](const SessionPeer& peer) { ended_.push_back(peer.session); },
         [this](std::int64_t process, const std::string& reason) {
           EXPECT_EQ(process, ::getpid());
           refused_.push_back(reason);
         },
         [this](const SessionPeer& peer, std::size_t waiting_bytes) {
           EXPECT_EQ(peer.process, ::getpid());
           stalled_.push_back(waiting_bytes);
         }},
        port_stamps_, read_limit_);
  }
  std::shared_ptr<SessionClient> connect() {
    auto client = SessionClient::connect(io_, names_);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  void serve(const std::function<bool()>& done) {
    EXPECT_TRUE(test::run_until(done, [this] {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }));
  }
  Reply ask(SessionClient& client, const SessionMessage& request) {
    std::optional<Reply> reply;
    client.request(request, [&reply](Reply answer) { reply.emplace(std::move(answer)); });
    serve([&] { return reply.has_value(); });
    return reply.value_or(absl::InternalError("no reply"));
  }
  // A peer that sends bytes instead of messages.
  UniqueFd raw_peer() const {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), endpoint_.data(), static_cast<socklen_t>(endpoint_.size())), 0);
    return socket;
  }
  // What a peer that sends `bytes` receives before the session ends.
  std::string refusal_of(std::span<const std::byte> bytes) {
    const UniqueFd peer = raw_peer();
    test::write_all(peer.get(), bytes);
    std::byte first;
    serve([&] { return ::recv(peer.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1; });
    std::vector<std::byte> answer = test::read_bytes(peer.get(), 4);
    WireReader length(answer);
    answer = test::read_bytes(peer.get(), length.get<std::uint32_t>());
    const Reply message = decode_session_message(answer);
    EXPECT_TRUE(message.ok() && std::holds_alternative<Refusal>(*message));
    // The server closes the connection of a peer that violates the protocol.
    serve([&] { return ::recv(peer.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 0; });
    return message.ok() ? std::get<Refusal>(*message).reason : "";
  }

  boost::asio::io_context io_;
  const SessionNames names_;
  const boost::asio::local::stream_protocol::endpoint endpoint_;
  const Welcome welcome_{"n0", "lab", 17, 1000, {"10.0.0.1"}};
  std::string view_;
  std::size_t requests_ = 0;
  absl::Status report_status_;
  std::vector<std::pair<SessionPeer, SessionMessage>> reported_;
  std::vector<std::uint64_t> left_, ended_;
  std::vector<std::string> refused_;
  std::vector<std::size_t> stalled_;  // bytes
  int port_stamps_ = -1;
  std::chrono::milliseconds read_limit_ = SessionServer::kReadLimit;
  std::unique_ptr<SessionServer> server_;
};

TEST_F(SessionTest, GreetsThenAnswersInOrder) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  const Reply greeting = ask(*client, Hello{kSessionVersion, "test"});
  ASSERT_TRUE(greeting.ok()) << greeting.status();
  EXPECT_EQ(std::get<Welcome>(*greeting), welcome_);
  EXPECT_EQ(server_->sessions(), 1U);

  std::vector<std::string> replies;
  for (std::uint64_t i = 0; i < 50; ++i) {
    client->request(PathRequest{i, 0, 1, "n" + std::to_string(i)},
                    [&](const Reply& reply) { replies.push_back(std::get<PathReply>(*reply).error); });
  }
  serve([&] { return replies.size() == 50; });
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(replies[i], "no path to n" + std::to_string(i));

  client->close();
  serve([&] { return server_->sessions() == 0; });
}

TEST_F(SessionTest, PassesADescriptorBeforeTheFirstWelcome) {
  const auto stamps = SharedPortStamps::create().value();
  port_stamps_ = stamps->file().get();
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  std::vector<UniqueFd> passed;
  client->on_port_stamps([&](UniqueFd file) { passed.push_back(std::move(file)); });
  const Reply greeting = ask(*client, Hello{kSessionVersion, "test"});
  ASSERT_TRUE(greeting.ok()) << greeting.status();
  EXPECT_EQ(std::get<Welcome>(*greeting), welcome_);
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_TRUE(SharedPortStamps::create_unshared().value()->adopt(passed.front()).ok());
  EXPECT_TRUE(ask(*client, PathRequest{1, 0, 1, "n1"}).ok());
  EXPECT_EQ(passed.size(), 1U);
}

TEST_F(SessionTest, TellsThatNoDescriptorWasPassed) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  std::vector<UniqueFd> passed;
  client->on_port_stamps([&](UniqueFd file) { passed.push_back(std::move(file)); });
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_FALSE(passed.front().valid());
}

TEST_F(SessionTest, AcceptsReportsWithoutAnswersBesideRequests) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  FlowOpened opened;
  opened.number = 1;
  opened.node = "n1";
  client->report(opened);
  EXPECT_EQ(std::get<PathReply>(*ask(*client, PathRequest{1, 0, 1, "n1"})).error, "no path to n1");
  client->report(ChunkCorrupted{1, "chunk corrupted"});
  client->report(FlowEnded{1, "it failed"});
  EXPECT_EQ(std::get<PathReply>(*ask(*client, PathRequest{1, 0, 1, "n2"})).error, "no path to n2");
  ASSERT_EQ(reported_.size(), 3U);
  EXPECT_EQ(reported_[0].first.process, ::getpid());
  EXPECT_EQ(reported_[0].second, SessionMessage(opened));
  EXPECT_EQ(reported_[1].first.session, reported_[0].first.session);
  EXPECT_EQ(reported_[1].second, SessionMessage(ChunkCorrupted{1, "chunk corrupted"}));
  EXPECT_EQ(reported_[2].second, SessionMessage(FlowEnded{1, "it failed"}));
  EXPECT_TRUE(left_.empty());
  client->close();
  serve([&] { return !ended_.empty(); });
  EXPECT_EQ(left_, std::vector<std::uint64_t>{reported_[0].first.session});
}

TEST_F(SessionTest, ASessionWithoutReportsEnds) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  client->close();
  serve([&] { return server_->connections() == 0; });
  EXPECT_TRUE(left_.empty() && ended_.size() == 1);
}

TEST_F(SessionTest, TakesTheReportsOfAProcessThatHasEndedSince) {
  listen();
  UniqueFd peer = raw_peer();
  FlowOpened opened;
  opened.number = 1;
  test::write_all(peer.get(), encode_session_message(Hello{kSessionVersion, "test"}));
  test::write_all(peer.get(), encode_session_message(opened));
  serve([&] { return reported_.size() == 1; });
  test::write_all(peer.get(), encode_session_message(FlowEnded{1, "it failed"}));
  peer.reset();
  server_->tell(PortLost{"eth1", "the port has lost its carrier"});  // cannot be sent any more
  server_->tell(PortLost{"eth2", "the port has lost its carrier"});
  serve([&] { return server_->connections() == 0; });
  EXPECT_EQ(left_.size(), 1U);
  ASSERT_EQ(reported_.size(), 2U);
  EXPECT_EQ(reported_[1].second, SessionMessage(FlowEnded{1, "it failed"}));
  EXPECT_TRUE(refused_.empty());
}

TEST_F(SessionTest, EndsASessionWithAnInvalidReport) {
  listen();
  report_status_ = absl::InvalidArgumentError("flow number 7 ended, which is not open");
  const UniqueFd peer = raw_peer();
  test::write_all(peer.get(), encode_session_message(Hello{kSessionVersion, "test"}));
  test::write_all(peer.get(), encode_session_message(FlowEnded{7, ""}));
  std::vector<std::byte> wanted = encode_session_message(welcome_);
  const std::vector<std::byte> refusal = encode_session_message(Refusal{"flow number 7 ended, which is not open"});
  wanted.insert(wanted.end(), refusal.begin(), refusal.end());
  std::vector<std::byte> heard(wanted.size());
  serve([&] { return ::recv(peer.get(), heard.data(), heard.size(), MSG_PEEK | MSG_DONTWAIT) == std::ssize(wanted); });
  EXPECT_EQ(heard, wanted);
  EXPECT_EQ(left_.size(), 1U);
  EXPECT_EQ(server_->sessions(), 0U);
  EXPECT_THAT(refused_, testing::ElementsAre("flow number 7 ended, which is not open"));
}

TEST_F(SessionTest, LimitsAnswersToWhatItsPeerReads) {
  listen();
  view_ = std::string(300000, 'v');
  const UniqueFd peer = raw_peer();
  test::write_all(peer.get(), encode_session_message(Hello{kSessionVersion, "test"}));
  for (int i = 0; i < 200; ++i) test::write_all(peer.get(), encode_session_message(ViewRequest{"status"}));
  // All requests that can be answered before the peer reads have been.
  serve([&] { return requests_ > 0 && io_.poll() == 0; });
  // The kernel's buffer, the answer being written, and answers within half a megabyte.
  const std::size_t answered = requests_;
  EXPECT_LT(answered, 20U) << "of 300 KB each";
  EXPECT_EQ(server_->sessions(), 1U);
  // It continues when the peer reads.
  std::size_t taken = 0;
  std::vector<std::byte> some(1 << 20);
  serve([&] {
    const ssize_t got = ::recv(peer.get(), some.data(), some.size(), MSG_DONTWAIT);
    if (got > 0) taken += static_cast<std::size_t>(got);
    return requests_ == 200 && taken > 200 * view_.size();
  });
  EXPECT_TRUE(stalled_.empty());
  EXPECT_TRUE(refused_.empty());
}

TEST_F(SessionTest, EndsASessionThatReadsNoNotifications) {
  listen();
  const UniqueFd peer = raw_peer();
  const std::shared_ptr<SessionClient> other = connect();
  ASSERT_TRUE(ask(*other, Hello{kSessionVersion, "test"}).ok());
  test::write_all(peer.get(), encode_session_message(Hello{kSessionVersion, "test"}));
  serve([&] { return server_->sessions() == 2; });
  Welcome changed = welcome_;
  changed.addresses.assign(100, std::string(1000, '7'));
  int updates = 0;
  while (stalled_.empty() && updates < 1000) {
    server_->update_welcome(changed);
    ++updates;
    while (io_.poll() > 0) {
    }
  }
  // 100 KB each: one megabyte, and the kernel's buffer.
  EXPECT_LT(updates, 100);
  ASSERT_EQ(stalled_.size(), 1U);
  EXPECT_GT(stalled_[0], 1U << 20);
  EXPECT_TRUE(refused_.empty());
  serve([&] { return server_->sessions() == 1; });
  EXPECT_TRUE(ask(*other, PathRequest{1, 0, 1, "n1"}).ok());
}

TEST_F(SessionTest, BoundsWhatAUsersProcessesLeaveUnread) {
  read_limit_ = std::chrono::milliseconds(1000);
  listen();
  view_ = std::string(4 << 20, 'v');
  std::vector<UniqueFd> peers;
  while (stalled_.empty() && peers.size() < 16) {
    peers.push_back(raw_peer());
    test::write_all(peers.back().get(), encode_session_message(Hello{kSessionVersion, "test"}));
    test::write_all(peers.back().get(), encode_session_message(ViewRequest{"topology"}));
    serve([&] { return requests_ == peers.size(); });
  }
  EXPECT_EQ(peers.size(), kMaxUnread / view_.size() + 1);
  ASSERT_FALSE(stalled_.empty());
  EXPECT_GT(stalled_[0], view_.size()) << "one that has not read, and not the one that asks";
  serve([&] { return stalled_.size() == peers.size(); });
  EXPECT_EQ(server_->sessions(), 0U) << "none has read its answer in time";
}

TEST_F(SessionTest, TheNodesUserMayDrain) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  EXPECT_EQ(std::get<DrainReply>(*ask(*client, DrainRequest{"c0", true})).error, "no cable c0");
}

TEST_F(SessionTest, TellsEveryProcessOfChangedPaths) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  std::size_t changes = 0;
  client->on_paths_changed([&] { ++changes; });
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  server_->tell(PathsChanged{});
  serve([&] { return changes == 1; });
  EXPECT_EQ(std::get<PathReply>(*ask(*client, PathRequest{1, 0, 1, "n1"})).error, "no path to n1");
}

TEST_F(SessionTest, TellsEveryProcessOfALostPort) {
  listen();
  const PortLost lost{"eth1", "the port has lost its carrier", true};
  std::vector<std::shared_ptr<SessionClient>> clients;
  std::vector<PortLost> heard;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(connect());
    clients.back()->on_port_lost([&](const PortLost& told) { heard.push_back(told); });
    ASSERT_TRUE(ask(*clients.back(), Hello{kSessionVersion, "test"}).ok());
  }
  const std::shared_ptr<SessionClient> indifferent = connect();
  ASSERT_TRUE(ask(*indifferent, Hello{kSessionVersion, "test"}).ok());
  server_->tell(lost);
  serve([&] { return heard.size() == 2; });
  EXPECT_EQ(heard, (std::vector<PortLost>{lost, lost}));
  // It is no answer to a request.
  for (const auto& client : {clients[0], clients[1], indifferent}) {
    EXPECT_EQ(std::get<PathReply>(*ask(*client, PathRequest{1, 0, 1, "n1"})).error, "no path to n1");
  }
}

// Descriptors that a program started here would inherit.
std::size_t inheritable_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count;
  }
  return count;
}

TEST_F(SessionTest, IsNotInheritedByTheApplicationsChildren) {
  listen();
  const std::size_t before = inheritable_descriptors();
  const std::shared_ptr<SessionClient> client = connect();
  EXPECT_EQ(inheritable_descriptors(), before) << "a child would prevent the node from leaving";
}

TEST_F(SessionTest, ReportsThatNoNodeIsRunning) {
  EXPECT_TRUE(absl::IsNotFound(SessionClient::connect(io_, names_).status()));
}

TEST_F(SessionTest, IsHeldByOneNodeAtATime) {
  listen();
  const absl::Status second = open_session_listeners(names_, std::nullopt).status();
  EXPECT_TRUE(absl::IsAlreadyExists(second)) << second;
  server_.reset();
  io_.poll();
  listen();
}

TEST_F(SessionTest, FailsUnansweredRequestsWhenItEnds) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  ASSERT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  std::optional<Reply> unanswered;
  client->request(PathRequest{1, 1, 1, "n1"}, [&](Reply reply) { unanswered.emplace(std::move(reply)); });
  client->close();
  ASSERT_TRUE(unanswered.has_value());
  EXPECT_TRUE(absl::IsUnavailable(unanswered->status()));
  EXPECT_TRUE(client->ended());
  EXPECT_TRUE(absl::IsUnavailable(ask(*client, PathRequest{2, 2, 1, "n1"}).status()));
}

TEST_F(SessionTest, RefusesAnotherVersionWithAReason) {
  listen();
  const std::shared_ptr<SessionClient> client = connect();
  const Reply reply = ask(*client, Hello{kSessionVersion - 1, "test"});
  EXPECT_TRUE(absl::IsFailedPrecondition(reply.status()));
  EXPECT_THAT(
      std::string(reply.status().message()),
      AllOf(HasSubstr(absl::StrCat("session version ", kSessionVersion)),
            HasSubstr(absl::StrCat("the process uses ", kSessionVersion - 1)), HasSubstr("install the same Cableway")));
  serve([&] { return client->ended(); });
}

TEST_F(SessionTest, RefusesASessionWithoutHello) {
  listen();
  EXPECT_EQ(refusal_of(encode_session_message(ViewRequest{"status"})), "the first message must be Hello");
  EXPECT_EQ(server_->sessions(), 0U);
}

TEST_F(SessionTest, RefusesGarbage) {
  listen();
  std::vector<std::byte> garbage;
  WireWriter writer(garbage);
  writer.put(std::uint32_t{8});
  writer.put_bytes(std::as_bytes(std::span("GARBAGE!", 8)));
  EXPECT_THAT(refusal_of(garbage), HasSubstr("session message of unknown type 71"));
  garbage.clear();
  writer.put(std::uint32_t{0});
  EXPECT_THAT(refusal_of(garbage), HasSubstr("unknown type 0"));
}

TEST_F(SessionTest, RefusesAnOversizedRequest) {
  listen();
  std::vector<std::byte> length;
  WireWriter(length).put(std::uint32_t{0xffffffff});
  EXPECT_THAT(refusal_of(length), AllOf(HasSubstr("4294967295 bytes"), HasSubstr("at most 65536")));
}

TEST_F(SessionTest, SurvivesAPeerThatClosesWithinAMessage) {
  listen();
  const std::vector<std::byte> hello = encode_session_message(Hello{kSessionVersion, "test"});
  for (std::size_t length = 0; length < hello.size(); ++length) {
    const UniqueFd peer = raw_peer();
    test::write_all(peer.get(), std::span(hello).first(length));
    io_.poll();
  }
  io_.poll();
  EXPECT_EQ(server_->sessions(), 0U);
  EXPECT_TRUE(ask(*connect(), Hello{kSessionVersion, "test"}).ok());
}

// The client trusts its node no more than the node trusts it.
class SessionWithFakeNode : public SessionTest {
 protected:
  SessionWithFakeNode() : acceptor_(io_, endpoint_) {}

  // The client's status for a node that answers `bytes`, and closes if `then_close`.
  absl::Status reply_to(std::span<const std::byte> bytes, bool then_close = true) {
    const std::shared_ptr<SessionClient> client = connect();
    boost::asio::local::stream_protocol::socket node = acceptor_.accept();
    test::write_all(node.native_handle(), bytes);
    if (then_close) node.shutdown(boost::asio::socket_base::shutdown_send);
    return ask(*client, Hello{kSessionVersion, "test"}).status();
  }

  boost::asio::local::stream_protocol::acceptor acceptor_;
};

TEST_F(SessionWithFakeNode, FailsWhenTheNodeCloses) {
  EXPECT_TRUE(absl::IsUnavailable(reply_to({})));
  const std::vector<std::byte> welcome = encode_session_message(welcome_);
  EXPECT_TRUE(absl::IsUnavailable(reply_to(std::span(welcome).first(welcome.size() - 1))));
}

TEST_F(SessionWithFakeNode, RefusesAnOversizedAnswer) {
  std::vector<std::byte> length;
  WireWriter(length).put(kMaxSessionMessageBytes + 1);
  EXPECT_TRUE(absl::IsUnavailable(reply_to(length, false)));
}

TEST_F(SessionWithFakeNode, RefusesAMalformedAnswer) {
  std::vector<std::byte> garbage;
  WireWriter(garbage).put_long_text("GARBAGE!");
  EXPECT_TRUE(absl::IsInvalidArgument(reply_to(garbage)));
}

TEST_F(SessionWithFakeNode, EndsAtAnAnswerWithoutARequest) {
  const std::shared_ptr<SessionClient> client = connect();
  boost::asio::local::stream_protocol::socket node = acceptor_.accept();
  test::write_all(node.native_handle(), encode_session_message(welcome_));
  test::write_all(node.native_handle(), encode_session_message(PathReply{1, "none", {}}));
  EXPECT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  serve([&] { return client->ended(); });
}

TEST_F(SessionWithFakeNode, ReportsAChangeOfPorts) {
  const std::shared_ptr<SessionClient> client = connect();
  std::vector<std::string> addresses;
  client->on_welcome([&](const Welcome& welcome) { addresses = welcome.addresses; });
  boost::asio::local::stream_protocol::socket node = acceptor_.accept();
  test::write_all(node.native_handle(), encode_session_message(welcome_));
  EXPECT_TRUE(ask(*client, Hello{kSessionVersion, "test"}).ok());
  EXPECT_TRUE(addresses.empty()) << "the first Welcome is the answer to Hello";
  Welcome changed = welcome_;
  changed.addresses = {"10.0.0.1", "10.9.0.1"};
  test::write_all(node.native_handle(), encode_session_message(changed));
  serve([&] { return addresses == changed.addresses; });
  EXPECT_FALSE(client->ended());
}

// A node that refuses a session closes at once, so that the process cannot send its Hello.
TEST_F(SessionWithFakeNode, HearsARefusalThatCameBeforeItsHello) {
  const std::shared_ptr<SessionClient> client = connect();
  {
    boost::asio::local::stream_protocol::socket node = acceptor_.accept();
    test::write_all(node.native_handle(), encode_session_message(Refusal{"no session left"}));
  }
  const absl::Status refused = ask(*client, Hello{kSessionVersion, "test"}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_EQ(refused.message(), "no session left");
}

}  // namespace
}  // namespace cableway::host
