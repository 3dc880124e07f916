#include "core/linux/hop/circuit_acceptor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/tcp/lingering_close.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CircuitAcceptorTest : public testing::Test {
 protected:
  void listen(const CircuitAcceptor::Limits& limits = {}) {
    auto acceptor = CircuitAcceptor::listen(
        io_, {"127.0.0.1"}, {0, 0},
        [this](ArrivedSetup pending) {
          if (pending.setup().listener != listener_) {
            return std::move(pending).refuse(absl::PermissionDeniedError("nobody listens by this name"),
                                             FailureScope::kFlow);
          }
          setups_.push_back(pending.setup());
          own_address_ = pending.connection().own_address();
          auto connection = std::move(pending).accept({});
          ASSERT_TRUE(connection.ok()) << connection.status();
          accepted_.push_back(release_socket(*std::move(connection)));
        },
        [this](const std::string& peer, const absl::Status& reason) {
          EXPECT_THAT(peer, HasSubstr("127.0.0.1 TCP port "));
          refused_.push_back(reason);
        },
        limits);
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
  }
  // Serves until `done`, and then all ready handlers.
  void serve(const std::function<bool()>& done) {
    EXPECT_TRUE(test::run_until(done, [this] { io_.run_one_for(std::chrono::milliseconds(20)); }));
    io_.poll();
  }
  // Sends these bytes and returns the reason of the acceptor's refusal.
  std::string refusal_of(std::span<const std::byte> bytes) {
    const UniqueFd peer = test::connect_to(acceptor_->port());
    test::write_all(peer.get(), bytes);
    const std::size_t before = refused_.size();
    serve([&] { return refused_.size() > before; });
    return reason_at(peer.get());
  }
  static std::string reason_at(int socket, FailureScope scope = FailureScope::kCircuit) {
    const Frame frame = test::read_frame(socket);
    EXPECT_EQ(frame, failed_frame(frame.payload, scope));
    return test::read_text(socket, frame.payload);
  }

  boost::asio::io_context io_;
  ListenerName listener_ = test::sample_setup(1).listener;
  std::vector<CircuitSetup> setups_;
  std::string own_address_;
  std::vector<UniqueFd> accepted_;
  std::vector<absl::Status> refused_;
  std::unique_ptr<CircuitAcceptor> acceptor_;
};

TEST_F(CircuitAcceptorTest, PassesTheSetupAndTheConnectionOn) {
  listen();
  const CircuitSetup setup = test::sample_setup(acceptor_->port());
  const UniqueFd peer = test::connect_to(acceptor_->port());
  test::write_all(peer.get(), encode_setup_frame(setup));
  serve([&] { return !accepted_.empty(); });
  EXPECT_EQ(setups_.front(), setup);
  EXPECT_EQ(own_address_, "127.0.0.1");
  EXPECT_EQ(test::read_frame(peer.get()).kind, FrameKind::kSetupOk);
  // Bytes after the set-up belong to the circuit and are still unread.
  test::write_all(peer.get(), std::string("payload"));
  std::string text(7, ' ');
  ASSERT_TRUE(test::run_until([&] { return ::recv(accepted_[0].get(), text.data(), 7, MSG_PEEK) == 7; }, [] {}));
  EXPECT_EQ(text, "payload");
  EXPECT_NE(::fcntl(accepted_[0].get(), F_GETFD) & FD_CLOEXEC, 0) << "a child would keep the circuit open";
  EXPECT_NE(::fcntl(accepted_[0].get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(CircuitAcceptorTest, AcceptsASetupSplitAtEveryByte) {
  listen();
  const UniqueFd peer = test::connect_to(acceptor_->port());
  for (const std::byte& byte : encode_setup_frame(test::sample_setup(acceptor_->port()))) {
    test::write_all(peer.get(), std::span(&byte, 1));
    io_.run_one_for(std::chrono::milliseconds(1));
  }
  serve([&] { return !accepted_.empty(); });
}

TEST_F(CircuitAcceptorTest, RefusesGarbage) {
  listen();
  EXPECT_THAT(refusal_of(std::vector<std::byte>(64, std::byte{'G'})), HasSubstr("not a Cableway frame"));
  EXPECT_THAT(refusal_of(encode_frame(Frame{FrameKind::kAck, 0, 1, 0, 1})), HasSubstr("began with a frame ack"));
  std::vector<std::byte> wrong = encode_setup_frame(test::sample_setup(acceptor_->port()));
  wrong[kFrameHeaderBytes] = std::byte{77};
  EXPECT_THAT(refusal_of(wrong), AllOf(HasSubstr("version 77"), HasSubstr("install the same Cableway")));
  EXPECT_TRUE(setups_.empty());
}

TEST_F(CircuitAcceptorTest, RefusesAListenerThroughItsHandler) {
  listen();
  CircuitSetup setup = test::sample_setup(acceptor_->port());
  setup.listener[0] ^= std::byte{1};
  const UniqueFd peer = test::connect_to(acceptor_->port());
  test::write_all(peer.get(), encode_setup_frame(setup));
  serve([&] {
    std::byte first;
    return ::recv(peer.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  });
  EXPECT_EQ(reason_at(peer.get(), FailureScope::kFlow), "nobody listens by this name");
  EXPECT_TRUE(test::reads_end(peer.get()));
  EXPECT_TRUE(refused_.empty()) << "the handler logs its own refusals";
}

TEST_F(CircuitAcceptorTest, RefusesASetupFromAnotherAddress) {
  listen();
  CircuitSetup setup = test::sample_setup(acceptor_->port());
  setup.hops[0].from_address = "127.0.0.9";
  EXPECT_THAT(refusal_of(encode_setup_frame(setup)),
              AllOf(HasSubstr("cable c0"), HasSubstr("from 127.0.0.9"), HasSubstr("came from 127.0.0.1")));
  setup.hops[0].from_address = "no address";
  EXPECT_THAT(refusal_of(encode_setup_frame(setup)), HasSubstr("from no address to 127.0.0.1 came from"));
  setup = test::sample_setup(acceptor_->port());
  setup.hops[0].to_address = "127.0.0.9";
  EXPECT_THAT(refusal_of(encode_setup_frame(setup)), HasSubstr("to 127.0.0.9 came from 127.0.0.1 to 127.0.0.1"));
  EXPECT_TRUE(setups_.empty());
}

TEST_F(CircuitAcceptorTest, LimitsTheWaitForASetup) {
  listen({.without_setup = {.setup = std::chrono::milliseconds(1000)}});
  const UniqueFd silent = test::connect_to(acceptor_->port());
  const UniqueFd halfway = test::connect_to(acceptor_->port());
  const std::vector<std::byte> bytes = encode_setup_frame(test::sample_setup(acceptor_->port()));
  test::write_all(halfway.get(), std::span(bytes).first(bytes.size() - 1));
  const auto begin = std::chrono::steady_clock::now();
  serve([&] { return refused_.size() == 2; });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
  for (const UniqueFd* peer : {&silent, &halfway}) {
    EXPECT_THAT(reason_at(peer->get()), HasSubstr("no complete set-up within 1000 ms"));
  }
  // Others are accepted as before.
  const UniqueFd late = test::connect_to(acceptor_->port());
  test::write_all(late.get(), bytes);
  serve([&] { return !accepted_.empty() || refused_.size() > 2; });
  EXPECT_EQ(accepted_.size(), 1U);
}

TEST_F(CircuitAcceptorTest, ReportsAPeerThatClosesBeforeItsSetup) {
  listen();
  test::connect_to(acceptor_->port()).reset();
  UniqueFd halfway = test::connect_to(acceptor_->port());
  const std::vector<std::byte> bytes = encode_setup_frame(test::sample_setup(acceptor_->port()));
  test::write_all(halfway.get(), std::span(bytes).first(kFrameHeaderBytes + 5));
  halfway.reset();
  serve([&] { return refused_.size() == 2; });
  EXPECT_TRUE(setups_.empty());
}

TEST_F(CircuitAcceptorTest, IsNotShutByConnectionsWithoutASetup) {
  constexpr std::size_t kUntrustedPeers = 300;  // the usual limit of descriptors is 1,024
  listen({.without_setup = {.setup = std::chrono::seconds(60), .each = 32}});
  std::size_t reports = 0;
  acceptor_->on_flood([&](const IdleRate::From& from, std::size_t per_second) {
    EXPECT_EQ(from.address, "127.0.0.1");
    EXPECT_GE(per_second, IdleRate::kMany);
    ++reports;
  });
  std::vector<UniqueFd> untrusted_peers;
  for (std::size_t i = 0; i < kUntrustedPeers; ++i) {
    untrusted_peers.push_back(test::connect_to(acceptor_->port()));
    io_.poll();
  }
  const UniqueFd peer = test::connect_to(acceptor_->port());
  test::write_all(peer.get(), encode_setup_frame(test::sample_setup(acceptor_->port())));
  serve([&] { return !accepted_.empty(); });
  EXPECT_EQ(test::read_frame(peer.get()).kind, FrameKind::kSetupOk);
  // The first have been closed with a reset, so that the kernel keeps nothing of them.
  std::byte first;
  EXPECT_EQ(::recv(untrusted_peers[0].get(), &first, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, ECONNRESET);
  serve([&] { return reports > 0; });
}

TEST_F(CircuitAcceptorTest, RefusesAFloodOfGarbageWithBoundedMeansAndReportsIt) {
  constexpr std::size_t kMany = 200;
  listen();
  std::size_t reports = 0;
  acceptor_->on_flood([&](const IdleRate::From& from, std::size_t per_second) {
    EXPECT_EQ(from.address, "127.0.0.1");
    EXPECT_GE(per_second, IdleRate::kMany);
    ++reports;
  });
  std::vector<UniqueFd> peers;
  for (std::size_t i = 0; i < kMany; ++i) {
    peers.push_back(test::connect_to(acceptor_->port()));
    test::write_all(peers.back().get(), std::string(kFrameHeaderBytes + 100, 'G'));
    serve([&] { return refused_.size() > i; });
  }
  const auto is_open = [](const UniqueFd& peer) { return ::send(peer.get(), "G", 1, MSG_NOSIGNAL) == 1; };
  EXPECT_LE(static_cast<std::size_t>(std::count_if(peers.begin(), peers.end(), is_open)), kMaxRefused);
  EXPECT_THAT(reason_at(peers.front().get()), HasSubstr("not a Cableway frame"));
  EXPECT_THAT(reason_at(peers.back().get()), HasSubstr("not a Cableway frame"));
  serve([&] { return reports > 0; });
}

TEST_F(CircuitAcceptorTest, ListensOnOnePortOfSeveralAddresses) {
  const auto ignore_setup = [](ArrivedSetup) {};
  const auto ignore_refusal = [](const std::string&, const absl::Status&) {};
  auto both = CircuitAcceptor::listen(io_, {"127.0.0.1", "127.0.0.2"}, {0, 0}, ignore_setup, ignore_refusal);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_NE((*both)->port(), 0);
  const absl::Status taken =
      CircuitAcceptor::listen(io_, {"127.0.0.2"}, {(*both)->port(), (*both)->port()}, ignore_setup, ignore_refusal)
          .status();
  EXPECT_TRUE(absl::IsAlreadyExists(taken)) << taken;
  EXPECT_THAT(std::string(taken.message()),
              AllOf(HasSubstr("127.0.0.2"), HasSubstr("TCP port " + std::to_string((*both)->port()))));
}

TEST_F(CircuitAcceptorTest, ReportsWhyItCannotListen) {
  const auto error = [this](const std::vector<std::string>& addresses) {
    return std::string(CircuitAcceptor::listen(
                           io_, addresses, {0, 0}, [](ArrivedSetup) {}, [](const std::string&, const absl::Status&) {})
                           .status()
                           .message());
  };
  EXPECT_THAT(error({"localhost"}), HasSubstr("\"localhost\" is not an IP address"));
  EXPECT_THAT(error({"192.0.2.77"}), AllOf(HasSubstr("cannot listen on 192.0.2.77"), HasSubstr("assign")));
}

class AddressesTest : public CircuitAcceptorTest {
 protected:
  void listen_without_setups(const std::vector<std::string>& addresses, std::chrono::milliseconds keep_former) {
    auto acceptor = CircuitAcceptor::listen(
        io_, addresses, {0, 0}, [](ArrivedSetup) {}, [](const std::string&, const absl::Status&) {},
        {.keep_former = keep_former});
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
  }
  bool can_connect(const char* address) {
    boost::asio::ip::tcp::socket socket(io_);
    boost::system::error_code error;
    socket.connect({boost::asio::ip::make_address(address), acceptor_->port()}, error);
    return !error;
  }
  // Within some seconds.
  bool is_closed(const char* address) {
    for (int tries = 0; tries < 100 && can_connect(address); ++tries) io_.run_for(std::chrono::milliseconds(50));
    return !can_connect(address);
  }
};

// Addresses are added and removed while a node runs.
TEST_F(AddressesTest, AreFollowed) {
  listen_without_setups({}, std::chrono::milliseconds(0));
  EXPECT_EQ(acceptor_->port(), 0);
  ASSERT_TRUE(acceptor_->set_addresses({"127.0.0.1"}).ok());
  const std::uint16_t port = acceptor_->port();
  EXPECT_NE(port, 0);
  EXPECT_TRUE(can_connect("127.0.0.1"));
  EXPECT_FALSE(can_connect("127.0.0.2"));

  // An address that does not exist here does not prevent the others.
  const absl::Status status = acceptor_->set_addresses({"192.0.2.77", "127.0.0.2"});
  EXPECT_THAT(std::string(status.message()), HasSubstr("192.0.2.77"));
  EXPECT_EQ(acceptor_->port(), port);
  EXPECT_TRUE(can_connect("127.0.0.2"));
  EXPECT_TRUE(is_closed("127.0.0.1"));
  EXPECT_TRUE(can_connect("127.0.0.2"));
  ASSERT_TRUE(acceptor_->set_addresses({"127.0.0.1"}).ok());
  EXPECT_EQ(acceptor_->port(), port);
  EXPECT_TRUE(can_connect("127.0.0.1"));
}

TEST_F(AddressesTest, RefuseNobodyWhenTheyReturnSoon) {
  listen_without_setups({"127.0.0.1", "127.0.0.2"}, std::chrono::milliseconds(500));
  ASSERT_TRUE(acceptor_->set_addresses({}).ok());  // as when the node that names them is restarted
  EXPECT_TRUE(can_connect("127.0.0.1"));
  ASSERT_TRUE(acceptor_->set_addresses({"127.0.0.1"}).ok());
  EXPECT_TRUE(is_closed("127.0.0.2"));
  EXPECT_TRUE(can_connect("127.0.0.1")) << "the timer of the address that has returned still runs";
}

TEST_F(AddressesTest, AreClosedHoweverOftenTheOthersAreSetAgain) {
  constexpr std::chrono::milliseconds kKeep(200);
  listen_without_setups({"127.0.0.1", "127.0.0.2"}, kKeep);
  ASSERT_TRUE(acceptor_->set_addresses({"127.0.0.2"}).ok());
  for (int tries = 0; tries < 100 && can_connect("127.0.0.1"); ++tries) {
    io_.run_for(kKeep / 10);
    ASSERT_TRUE(acceptor_->set_addresses({"127.0.0.2"}).ok());
  }
  EXPECT_FALSE(can_connect("127.0.0.1"));
}

TEST_F(CircuitAcceptorTest, ListensOnAPortWithinItsRange) {
  const auto listen_in = [this](std::uint16_t low, std::uint16_t high) {
    return CircuitAcceptor::listen(
        io_, {"127.0.0.1"}, {low, high}, [](ArrivedSetup) {}, [](const std::string&, const absl::Status&) {});
  };
  const auto free = listen_in(0, 0);
  ASSERT_TRUE(free.ok());
  const std::uint16_t taken = (*free)->port();
  EXPECT_TRUE(absl::IsAlreadyExists(listen_in(taken, taken).status()));
  const auto next = listen_in(taken, static_cast<std::uint16_t>(taken + 50));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_GT((*next)->port(), taken);
}

}  // namespace
}  // namespace cableway::host
