// One end of a set-up's connection whose other end the test plays: it delivers bytes and inspects those sent.
#ifndef CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTION_H_
#define CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTION_H_

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/setup_connection.h"
#include "core/flow/frame.h"

namespace cableway::test {

// The test's handle while the code under test owns the connection.
struct PlayedPeer {
  std::deque<std::byte> unread;        // delivered to the code under test, and not read yet
  std::vector<std::byte> received;     // sent by the code under test
  std::vector<std::byte> final_frame;  // passed to end_with()
  absl::Status ended;                  // the connection's status after all of `unread` has been read
  bool is_open = true;                 // the code under test has neither destroyed nor ended it
  std::size_t requested = 0;           // bytes that the pending read needs
  SetupConnection::HaveBytes have;
  std::optional<SetupConnection::Sent> sent;

  void deliver(std::span<const std::byte> bytes) { unread.insert(unread.end(), bytes.begin(), bytes.end()); }
  // Runs one callback that is due. False: there is none.
  bool step() {
    if (!is_open) return false;
    if (sent.has_value()) {
      const auto call = *std::exchange(sent, std::nullopt);
      call(absl::OkStatus());
      return true;
    }
    if (!have || (unread.size() < requested && ended.ok())) return false;
    const auto call = std::exchange(have, nullptr);
    if (unread.size() < requested) {
      call(ended, {});
      return true;
    }
    const auto last = unread.begin() + static_cast<std::ptrdiff_t>(requested);
    const std::vector<std::byte> bytes(unread.begin(), last);
    unread.erase(unread.begin(), last);
    call(absl::OkStatus(), bytes);
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  // The next frame that was sent, and its body.
  std::pair<Frame, std::vector<std::byte>> take_frame() {
    const Frame frame = decode_frame(std::span(received).first<kFrameHeaderBytes>()).value();
    const auto body = received.begin() + kFrameHeaderBytes;
    const auto end = body + static_cast<std::ptrdiff_t>(frame.payload);
    std::pair<Frame, std::vector<std::byte>> taken{frame, {body, end}};
    received.erase(received.begin(), end);
    return taken;
  }
};

class PlayedConnection final : public SetupConnection {
 public:
  explicit PlayedConnection(std::shared_ptr<PlayedPeer> peer = std::make_shared<PlayedPeer>(),
                            std::string own = "10.0.0.1", std::string other = "10.0.0.2")
      : peer_(std::move(peer)), own_(std::move(own)), other_(std::move(other)) {}
  ~PlayedConnection() override { peer_->is_open = false; }

  void read(std::size_t bytes, HaveBytes have) override {
    peer_->requested = bytes;
    peer_->have = std::move(have);
  }
  void send(std::vector<std::byte> bytes, Sent sent) override {
    peer_->received.insert(peer_->received.end(), bytes.begin(), bytes.end());
    peer_->sent = std::move(sent);
  }
  absl::Status send_first(const std::vector<std::byte>& bytes) override {
    if (!peer_->ended.ok()) return peer_->ended;
    peer_->received.insert(peer_->received.end(), bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  void end_with(const std::vector<std::byte>& final_frame) override {
    peer_->final_frame = final_frame;
    peer_->is_open = false;
  }
  std::string own_address() const override { return own_; }
  std::string other_address() const override { return other_; }
  std::string other_end() const override { return other_ + " TCP port 7"; }

 private:
  const std::shared_ptr<PlayedPeer> peer_;
  const std::string own_;
  const std::string other_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTION_H_
