#include "tests/conformance/ranks/untrusted_peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/circuit/flow_proof.h"
#include "core/linux/os/random_value.h"

namespace cableway::nccl::test {
namespace {

sockaddr_in endpoint(const std::string& address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &out.sin_addr);
  return out;
}

}  // namespace

UntrustedPeer::UntrustedPeer(const World::Door& door, const std::string& address)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in from = endpoint(address.empty() ? "0.0.0.0" : address, 0);
  EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
  const sockaddr_in to = endpoint(door.address, door.port);
  EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
}

bool UntrustedPeer::send(std::span<const std::byte> bytes) {
  return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

bool UntrustedPeer::send(const Frame& frame, std::span<const std::byte> payload) {
  const FrameBytes header = encode_frame(frame);
  std::vector<std::byte> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return send(bytes);
}

Challenge UntrustedPeer::receive_challenge(std::chrono::milliseconds limit) {
  FrameBytes bytes{};
  pollfd readable{socket_.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, static_cast<int>(limit.count())), 1);
  EXPECT_EQ(::recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL), static_cast<ssize_t>(bytes.size()));
  const absl::StatusOr<Frame> frame = decode_frame(bytes);
  EXPECT_TRUE(frame.ok() && frame->kind == FrameKind::kChallenge) << frame.status();
  return sixteen_bytes_of(frame.value_or(Frame{}));
}

UntrustedPeer::Answer UntrustedPeer::receive(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::vector<std::byte> received;
  Answer answer;
  while (!answer.accepted && !answer.closed) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd readable{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) == 0) break;
    std::array<std::byte, 4096> part;
    const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), 0);
    answer.closed = got <= 0;
    received.insert(received.end(), part.begin(), part.begin() + std::max<ssize_t>(got, 0));
    if (received.size() < kFrameHeaderBytes) continue;
    const auto frame = decode_frame(std::span<const std::byte, kFrameHeaderBytes>(received.data(), kFrameHeaderBytes));
    answer.accepted = frame.ok() && frame->kind == FrameKind::kSetupOk;
    if (frame.ok() && frame->kind == FrameKind::kFailed) answer.scope = scope_of(*frame);
    answer.reason.assign(reinterpret_cast<const char*>(received.data()) + kFrameHeaderBytes,
                         received.size() - kFrameHeaderBytes);
  }
  return answer;
}

std::optional<Frame> UntrustedPeer::receive_frame(std::chrono::milliseconds limit) {
  FrameBytes bytes{};
  pollfd readable{socket_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(limit.count())) != 1) return std::nullopt;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_WAITALL);
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  const absl::StatusOr<Frame> frame = decode_frame(bytes);
  EXPECT_TRUE(frame.ok() && (frame->kind == FrameKind::kFailed || frame->payload == 0)) << frame.status();
  return frame.ok() ? std::optional(*frame) : std::nullopt;
}

std::optional<FailureScope> UntrustedPeer::receive_failed(std::chrono::milliseconds limit) {
  while (const std::optional<Frame> frame = receive_frame(limit)) {
    if (frame->kind == FrameKind::kFailed) return scope_of(*frame);
  }
  return std::nullopt;
}

bool is_refused_at(const World::Door& door) {
  const host::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = endpoint(door.address, door.port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno == ECONNREFUSED;
}

CircuitSetup setup_for(const Handle& handle, const std::string& from, std::vector<Hop> hops) {
  const auto parsed = decode_listen_handle(handle);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  CircuitSetup setup;
  setup.nonce = host::random_value<FlowNonce>();
  setup.flow = 1;
  setup.chunk_bytes = 1U << 20;
  setup.budget_ms = 5000;
  setup.path_wait_ms = 30000;
  setup.from_node = from;
  setup.hops = std::move(hops);
  setup.hops.back().to_port = parsed->port;
  add_flow_proof(parsed->cookie, setup);
  return setup;
}

std::vector<std::byte> as_frame(const CircuitSetup& setup) {
  const std::vector<std::byte> body = encode_circuit_setup(setup);
  const FrameBytes header = encode_frame(Frame{FrameKind::kSetup, static_cast<std::uint32_t>(body.size()), 0, 0, 0});
  std::vector<std::byte> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

}  // namespace cableway::nccl::test
