// Set-ups with a key: the dialing end and the accepting end prove to each other that they have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_seal.h"
#include "core/linux/hop/asio_connection.h"
#include "core/linux/hop/circuit_acceptor.h"
#include "core/linux/hop/circuit_dialer.h"
#include "tests/core/linux/hop/sample_setup.h"
#include "tests/core/linux/loopback_sockets.h"

namespace cableway::host {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;
using Result = absl::StatusOr<HopConnection>;

constexpr char kSameKey[] = "CABLEWAY_KEY_FILE must name the same key on every node, or on none";

SubKey sub_key(int number) {
  SubKey key;
  for (std::byte& byte : key.bytes()) byte = static_cast<std::byte>(number);
  return key;
}

Bytes joined(std::span<const std::byte> first, std::span<const std::byte> second) {
  Bytes all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

std::string text_of(const absl::Status& status) {
  return std::string(status.message());
}

class SealedSetupTest : public testing::Test {
 protected:
  void listen(const SetupKeys& keys, const CircuitAcceptor::Limits& limits = {}) {
    auto acceptor = CircuitAcceptor::listen(
        io_, {"127.0.0.1"}, {0, 0},
        [this](ArrivedSetup pending) {
          setups_.push_back(pending.setup());
          if (!refuse_.ok()) return std::move(pending).refuse(refuse_, scope_);
          auto connection = std::move(pending).accept({});
          ASSERT_TRUE(connection.ok()) << connection.status();
          accepted_.push_back(release_socket(*std::move(connection)));
        },
        [this](const std::string&, const absl::Status& reason) { refused_.push_back(text_of(reason)); }, limits);
    ASSERT_TRUE(acceptor.ok()) << acceptor.status();
    acceptor_ = *std::move(acceptor);
    acceptor_->seal_with(keys);
  }

  Result dial(const std::optional<SubKey>& key) {
    std::optional<Result> result;
    dialer_.dial(test::sample_setup(acceptor_->port(), false, kMaxBudgetMs), key,
                 [&](Result done) { result = std::move(done); });
    serve([&] { return result.has_value(); });
    return std::move(result).value_or(absl::InternalError("never called"));
  }

  void serve(const std::function<bool()>& done) {
    EXPECT_TRUE(test::run_until(done, [this] { io_.run_one_for(milliseconds(20)); }));
    io_.poll();
  }
  // The next frame of the acceptor, which runs in this process as well.
  Frame receive(const UniqueFd& peer) {
    serve([&] {
      FrameBytes bytes;
      const ssize_t got = ::recv(peer.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
      return got == 0 || got == static_cast<ssize_t>(bytes.size());
    });
    return test::read_frame(peer.get());
  }
  // What a dialer with the key sends on a connection whose acceptor's challenge is `theirs`.
  Bytes opening(const Challenge& theirs, const SubKey& key) const {
    const Challenge mine{};
    Bytes setup = encode_setup_frame(test::sample_setup(acceptor_->port()));
    CircuitSeal(key, theirs, mine).append_next(setup);
    return joined(encode_challenge(mine), setup);
  }
  // Sends `bytes` and nothing else, and returns the reason of the expected refusal.
  std::string refusal_of(const UniqueFd& peer, std::span<const std::byte> bytes) {
    const std::size_t before = refused_.size();
    test::write_all(peer.get(), bytes);
    ::shutdown(peer.get(), SHUT_WR);
    serve([&] { return refused_.size() > before; });
    return refused_.empty() ? "" : refused_.back();
  }

  boost::asio::io_context io_;
  const TransportNegotiator transports_ = test::tcp_alone();
  CircuitDialer dialer_{io_, transports_};
  absl::Status refuse_;
  FailureScope scope_ = FailureScope::kCircuit;
  std::vector<CircuitSetup> setups_;
  std::vector<UniqueFd> accepted_;
  std::vector<std::string> refused_;
  std::unique_ptr<CircuitAcceptor> acceptor_;
};

TEST_F(SealedSetupTest, OpensACircuitIfBothEndsHaveTheKey) {
  listen(SetupKeys(sub_key(1)));
  const Result result = dial(sub_key(1));
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(accepted_.size(), 1U);
  CircuitSetup expected = test::sample_setup(acceptor_->port());
  expected.budget_ms = setups_[0].budget_ms;
  EXPECT_EQ(setups_[0], expected);
  // No byte of the set-up remains before the circuit's first byte, in either direction.
  test::write_all(result->socket.get(), std::string("there"));
  test::write_all(accepted_[0].get(), std::string("back"));
  EXPECT_EQ(test::read_text(accepted_[0].get(), 5), "there");
  std::string back(4, ' ');
  EXPECT_TRUE(test::run_until([&] { return ::recv(result->socket.get(), back.data(), 4, MSG_PEEK) == 4; }, [] {}));
  EXPECT_EQ(back, "back");
}

TEST_F(SealedSetupTest, PassesARefusalOnUnchanged) {
  listen(SetupKeys(sub_key(1)));
  refuse_ = absl::ResourceExhaustedError("node n1 cannot reach node n2: no");
  EXPECT_EQ(dial(sub_key(1)).status(), absl::UnavailableError(refuse_.message()));
}

TEST_F(SealedSetupTest, PassesTheScopeOfARefusalOn) {
  listen(SetupKeys(sub_key(1)));
  refuse_ = absl::NotFoundError("node n1: no listener");
  scope_ = FailureScope::kFlow;
  EXPECT_EQ(dial(sub_key(1)).status(), absl::NotFoundError("node n1: no listener"));
  scope_ = FailureScope::kCircuit;
  EXPECT_TRUE(absl::IsUnavailable(dial(sub_key(1)).status())) << "whatever the code of the reason";
}

TEST_F(SealedSetupTest, IsRefusedWithAnotherKey) {
  listen(SetupKeys(sub_key(1)));
  const Result result = dial(sub_key(2));
  EXPECT_THAT(
      text_of(result.status()),
      AllOf(HasSubstr("node n0 cannot reach node n1 at 127.0.0.1"), HasSubstr("over cable c0"),
            HasSubstr("refused without a proof that it has this cluster's key: the seal of the set-up is wrong"),
            HasSubstr(kSameKey)));
  EXPECT_THAT(refused_, testing::ElementsAre(HasSubstr("the seal of the set-up is wrong")));
  EXPECT_TRUE(setups_.empty());
}

// While the cluster changes its key: the acceptor answers with the key that the dialer has.
TEST_F(SealedSetupTest, OpensACircuitWithEitherOfTheAcceptorsKeys) {
  listen(SetupKeys(sub_key(1), sub_key(2)));
  EXPECT_TRUE(dial(sub_key(1)).ok());
  EXPECT_TRUE(dial(sub_key(2)).ok());
  refuse_ = absl::ResourceExhaustedError("no room");
  EXPECT_EQ(dial(sub_key(2)).status(), absl::UnavailableError("no room")) << "proven, so it is passed on as it is";
  EXPECT_THAT(text_of(dial(sub_key(3)).status()), HasSubstr("refused without a proof"));
  // The keys of the time count, also for connections to a listener that was there before.
  refuse_ = absl::OkStatus();
  acceptor_->seal_with(SetupKeys(sub_key(2)));
  EXPECT_TRUE(dial(sub_key(2)).ok());
  EXPECT_THAT(text_of(dial(sub_key(1)).status()), HasSubstr("the seal of the set-up is wrong"));
}

// Whichever end lacks the key, both report it at once, without waiting for a deadline, which is a minute here.
TEST_F(SealedSetupTest, FailsAtOnceWithAKeyAtOneEndOnly) {
  const auto begin = std::chrono::steady_clock::now();
  listen(SetupKeys(sub_key(1)), {.without_setup = {.setup = std::chrono::seconds(60)}});
  EXPECT_THAT(text_of(dial(std::nullopt).status()),
              AllOf(HasSubstr("over cable c0: it has a key, and this end has none"), HasSubstr(kSameKey)));
  EXPECT_THAT(refused_, testing::ElementsAre(
                            AllOf(HasSubstr("a set-up without a seal, and this end has a key"), HasSubstr(kSameKey))));
  acceptor_->seal_with(SetupKeys());
  EXPECT_THAT(text_of(dial(sub_key(1)).status()),
              AllOf(HasSubstr("over cable c0: refused without a proof"),
                    HasSubstr("the sender has a key, and this end has none"), HasSubstr(kSameKey)));
  EXPECT_THAT(refused_.back(), HasSubstr("the sender has a key, and this end has none"));
  EXPECT_TRUE(setups_.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(SealedSetupTest, IsValidOnItsOwnConnectionOnly) {
  listen(SetupKeys(sub_key(1)));
  const UniqueFd first = test::connect_to(acceptor_->port());
  const Bytes recorded = opening(sixteen_bytes_of(receive(first)), sub_key(1));
  test::write_all(first.get(), recorded);
  serve([&] { return accepted_.size() == 1; });
  EXPECT_EQ(receive(first).kind, FrameKind::kSetupOk);

  const UniqueFd second = test::connect_to(acceptor_->port());
  EXPECT_EQ(receive(second).kind, FrameKind::kChallenge);
  EXPECT_THAT(refusal_of(second, recorded), HasSubstr("the seal of the set-up is wrong; it was modified, replayed"));
  EXPECT_EQ(accepted_.size(), 1U);
}

TEST_F(SealedSetupTest, IsRefusedWithAnyByteChanged) {
  listen(SetupKeys(sub_key(1)));
  std::size_t bytes = 1;
  for (std::size_t at = 0; at < bytes; ++at) {
    const UniqueFd peer = test::connect_to(acceptor_->port());
    Bytes bytes_sent = opening(sixteen_bytes_of(receive(peer)), sub_key(1));
    bytes = bytes_sent.size();
    bytes_sent[at] ^= std::byte{0x10};
    EXPECT_NE(refusal_of(peer, bytes_sent), "") << at;
  }
  EXPECT_GT(bytes, 3 * kFrameHeaderBytes);
  EXPECT_EQ(refused_.size(), bytes);
  EXPECT_TRUE(setups_.empty());
}

TEST_F(SealedSetupTest, AcceptsNothingInPlaceOfASealAndNoSecondChallenge) {
  listen(SetupKeys(sub_key(1)));
  const UniqueFd unsealed = test::connect_to(acceptor_->port());
  Bytes bytes_sent = opening(sixteen_bytes_of(receive(unsealed)), sub_key(1));
  bytes_sent.resize(bytes_sent.size() - kFrameHeaderBytes);
  EXPECT_THAT(refusal_of(unsealed, bytes_sent), HasSubstr("closed before its seal"));
  const UniqueFd acknowledged = test::connect_to(acceptor_->port());
  receive(acknowledged);
  EXPECT_THAT(refusal_of(acknowledged, joined(bytes_sent, encode_frame(Frame{FrameKind::kAck, 0, 0, 0, 0}))),
              HasSubstr("a frame ack in place of a seal"));
  const UniqueFd twice = test::connect_to(acceptor_->port());
  receive(twice);
  EXPECT_THAT(refusal_of(twice, joined(encode_challenge({}), encode_challenge({}))),
              HasSubstr("began with a frame challenge"));
  const UniqueFd probing = test::connect_to(acceptor_->port());
  receive(probing);
  EXPECT_THAT(refusal_of(probing, encode_frame(Frame{FrameKind::kProbe, 0, 0, 0, 50})),
              HasSubstr("a probe without a seal"));
}

TEST_F(SealedSetupTest, LimitsTheWaitAfterAChallenge) {
  listen(SetupKeys(sub_key(1)), {.without_setup = {.setup = milliseconds(300)}});
  const UniqueFd peer = test::connect_to(acceptor_->port());
  test::write_all(peer.get(), encode_challenge({}));
  serve([&] { return !refused_.empty(); });
  EXPECT_THAT(refused_.back(), HasSubstr("no complete set-up within 300 ms"));
}

// Waits until the dialer has closed, or has reset the connection with unread data.
void wait_for_end(int socket) {
  char byte = 0;
  ssize_t got = 0;
  // A process that is stopped and continued gets an interrupted call here.
  do {
    got = ::recv(socket, &byte, 1, 0);
  } while (got > 0 || (got < 0 && errno == EINTR));
}

// The other end is driven by hand: `peer` gets the connection and the dialer's challenge.
Result dial_to(std::uint32_t budget_ms, const std::function<void(int socket, const Challenge& dialers)>& peer) {
  const test::Listener listener = test::listen_on_loopback();
  boost::asio::io_context io;
  std::optional<Result> result;
  const TransportNegotiator transports = test::tcp_alone();
  CircuitDialer dialer(io, transports);
  dialer.dial(test::sample_setup(listener.port, false, budget_ms), sub_key(1),
              [&](Result done) { result = std::move(done); });
  std::thread other([&] {
    const UniqueFd socket = test::accept_from(listener);
    peer(socket.get(), sixteen_bytes_of(test::read_frame(socket.get())));
    ::shutdown(socket.get(), SHUT_WR);
    wait_for_end(socket.get());
  });
  io.run();
  Result done = std::move(result).value_or(absl::InternalError("never called"));
  const bool opened = done.ok();
  if (opened) done->socket.reset();
  other.join();
  return done;
}

// Acts as an acceptor that has the key, but whose answer `change` modifies.
Result dial_to_changed(const std::function<void(Bytes& answer)>& change) {
  return dial_to(60000, [&](int socket, const Challenge& dialers) {
    test::write_all(socket, encode_challenge({}));
    const Frame header = test::read_frame(socket);
    Bytes setup = joined(encode_frame(header), test::read_bytes(socket, header.payload));
    CircuitSeal seal(sub_key(1), {}, dialers);
    EXPECT_TRUE(seal.next_is(setup, sixteen_bytes_of(test::read_frame(socket))));
    const FrameBytes ok = encode_frame(Frame{FrameKind::kSetupOk, 0, 0, 0, 0});
    Bytes answer(ok.begin(), ok.end());
    seal.append_next(answer);
    change(answer);
    test::write_all(socket, answer);
  });
}

TEST(SealedDial, AcceptsOnlyTheRightAnswer) {
  EXPECT_TRUE(dial_to_changed([](Bytes&) {}).ok());
  for (std::size_t at = 0; at < 2 * kFrameHeaderBytes; ++at) {
    const Result result = dial_to_changed([at](Bytes& answer) { answer[at] ^= std::byte{0x10}; });
    EXPECT_THAT(text_of(result.status()), HasSubstr("node n0 cannot reach node n1")) << at;
  }
  // An answer recorded on an earlier connection.
  Bytes recorded;
  EXPECT_TRUE(dial_to_changed([&](Bytes& answer) { recorded = answer; }).ok());
  EXPECT_THAT(text_of(dial_to_changed([&](Bytes& answer) { answer = recorded; }).status()),
              HasSubstr("accepted without a proof that it has this cluster's key"));
  EXPECT_THAT(text_of(dial_to_changed([](Bytes& answer) { answer.resize(kFrameHeaderBytes); }).status()),
              HasSubstr("accepted without a proof that it has this cluster's key"));
}

TEST(SealedDial, DoesNotTrustARefusalWithoutAProof) {
  const std::string forged = "node n7 is gone";
  const auto refuse = [&](int socket, const Challenge&) {
    test::write_all(socket, encode_challenge({}));
    test::write_failure(socket, forged, FailureScope::kFlow);
  };
  const absl::Status refused = dial_to(60000, refuse).status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(text_of(refused),
              AllOf(HasSubstr("node n0 cannot reach node n1"), HasSubstr("without a proof"), HasSubstr(forged)));
  const auto accept = [](int socket, const Challenge&) {
    test::write_frame(socket, Frame{FrameKind::kSetupOk, 0, 0, 0, 0});
  };
  EXPECT_THAT(text_of(dial_to(60000, accept).status()), HasSubstr("answered by a frame set-up-ok"));
}

TEST(SealedDial, LimitsTheWaitForAChallengeAndForASeal) {
  // Long enough for the steps before the wait, on a slow machine too.
  constexpr std::uint32_t kBudgetMs = 5000;
  const auto silent = [](int socket, const Challenge&) { wait_for_end(socket); };
  const auto half = [](int socket, const Challenge&) {
    test::write_all(socket, encode_challenge({}));
    test::write_frame(socket, Frame{FrameKind::kSetupOk, 0, 0, 0, 0});
    wait_for_end(socket);
  };
  auto unsealed = std::async(std::launch::async, [&] { return text_of(dial_to(kBudgetMs, half).status()); });
  EXPECT_THAT(text_of(dial_to(kBudgetMs, silent).status()), HasSubstr("no challenge received"));
  EXPECT_THAT(unsealed.get(), HasSubstr("no answer to the set-up"));
}

}  // namespace
}  // namespace cableway::host
