// One flow's traffic, chosen by a seed. The test provides the links; the script posts messages and receives, detects
// completions, and checks every byte.
#ifndef CABLEWAY_TESTS_CORE_FLOW_FLOW_SCRIPT_H_
#define CABLEWAY_TESTS_CORE_FLOW_FLOW_SCRIPT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/message_buffers.h"

namespace cableway::test {

// Registers the memory of messages for their link until they are done.
class MessageKeys {
 public:
  MessageKeys() = default;
  MessageKeys(const MessageKeys&) = delete;
  MessageKeys& operator=(const MessageKeys&) = delete;
  virtual ~MessageKeys() = default;

  virtual std::uint32_t key_to_send(std::uint64_t message, std::span<const std::byte> bytes) = 0;
  virtual std::uint32_t key_to_receive(std::uint64_t message, std::span<std::byte> room) = 0;
  virtual void sent(std::uint64_t message) = 0;
  virtual void received(std::uint64_t message) = 0;
};

class FlowScript {
 public:
  // `sizes` of messages, in order; every receive has a random number of extra bytes. `keys`, if not null, must outlive
  // this.
  FlowScript(FlowSender& sender, FlowReceiver& receiver, std::vector<std::size_t> sizes, std::uint32_t seed,
             MessageKeys* keys = nullptr)
      : sender_(sender), receiver_(receiver), sizes_(std::move(sizes)), random_(seed), keys_(keys) {}

  // Posts at most one message, or one receive. False: nothing more to post, or no room now.
  bool post_send() {
    if (sent_ == sizes_.size() || !sender_.can_post()) return false;
    const SentMessage& message = sending_.emplace_back(sent_, sizes_[sent_]);
    const std::uint32_t key = keys_ == nullptr ? 0 : keys_->key_to_send(sent_, message.bytes());
    const auto posted = sender_.post(message.buffer(key), sizes_[sent_]);
    EXPECT_TRUE(posted.ok()) << posted.status();
    EXPECT_EQ(posted.value_or(~sent_), sent_);
    ++sent_;
    return true;
  }
  bool post_receive() {
    if (posted_ == sizes_.size() || !receiver_.can_post()) return false;
    ReceivedMessage& message = receiving_.emplace_back(sizes_[posted_] + extra_room());
    const std::uint32_t key = keys_ == nullptr ? 0 : keys_->key_to_receive(posted_, message.room());
    const auto posted = receiver_.post(message.landing(key));
    EXPECT_TRUE(posted.ok()) << posted.status();
    EXPECT_EQ(posted.value_or(~posted_), posted_);
    ++posted_;
    return true;
  }

  // Checks and reuses the buffers of completed messages. Sends and receives complete in order on one circuit.
  void notice_done() {
    while (send_done_ < sent_ && sender_.done(send_done_)) {
      EXPECT_EQ(sender_.size(send_done_), sizes_[send_done_]);
      if (keys_ != nullptr) keys_->sent(send_done_);
      sending_[send_done_++].poison();
    }
    while (receive_done_ < posted_ && receiver_.done(receive_done_)) {
      EXPECT_EQ(receiver_.size(receive_done_), sizes_[receive_done_]);
      EXPECT_TRUE(receiving_[receive_done_].holds(receive_done_, sizes_[receive_done_]))
          << "message " << receive_done_ << " of " << sizes_[receive_done_] << " bytes";
      if (keys_ != nullptr) keys_->received(receive_done_);
      receiving_[receive_done_++].reuse();
    }
  }
  // No message may be done at its source before it is complete at its destination.
  void check_order() const { EXPECT_LE(send_done_, receive_done_); }

  bool finished() const { return send_done_ == sizes_.size() && receive_done_ == sizes_.size(); }
  std::size_t sends_done() const { return send_done_; }
  std::size_t receives_done() const { return receive_done_; }
  // Whether nothing was written to a receive buffer after its message was done.
  bool no_late_writes() const {
    for (std::size_t i = 0; i < receive_done_; ++i) {
      if (!receiving_[i].still_reused()) return false;
    }
    return true;
  }
  // Reads the messages that are landing as LL128 does. Returns how many lines it has taken as whole.
  std::size_t read_lines() const {
    std::size_t read = 0;
    for (std::size_t i = receive_done_; i < posted_; ++i) {
      const std::optional<std::size_t> lines = receiving_[i].lines_read(i, sizes_[i]);
      EXPECT_TRUE(lines.has_value()) << "a line of message " << i << " has its flag before its data";
      read += lines.value_or(0);
    }
    return read;
  }
  // Reuses the buffers of all receives, also of those that will never be done.
  void reuse_all() {
    for (ReceivedMessage& message : receiving_) message.reuse();
    receive_done_ = receiving_.size();
  }

 private:
  std::size_t extra_room() {
    constexpr std::size_t kRooms[] = {0, 0, 1, 7, 128, 1000};
    return kRooms[random_() % std::size(kRooms)];
  }

  FlowSender& sender_;
  FlowReceiver& receiver_;
  const std::vector<std::size_t> sizes_;
  std::mt19937 random_;
  MessageKeys* const keys_;
  std::deque<SentMessage> sending_;
  std::deque<ReceivedMessage> receiving_;
  std::size_t sent_ = 0;
  std::size_t posted_ = 0;
  std::size_t send_done_ = 0;
  std::size_t receive_done_ = 0;
};

// Random sizes with the boundary cases for chunks of `chunk_bytes`.
inline std::vector<std::size_t> random_sizes(std::mt19937& random, std::size_t count, std::size_t chunk_bytes) {
  const std::size_t edges[] = {0,
                               1,
                               8,
                               127,
                               128,
                               129,
                               chunk_bytes - 1,
                               chunk_bytes,
                               chunk_bytes + 1,
                               2 * chunk_bytes,
                               3 * chunk_bytes + 77,
                               5 * chunk_bytes - 128};
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < count; ++i) {
    const bool edge = random() % 4 != 0;
    sizes.push_back(edge ? edges[random() % std::size(edges)] : random() % (6 * chunk_bytes));
  }
  return sizes;
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_FLOW_SCRIPT_H_
