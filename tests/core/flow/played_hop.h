// One end of an RDMA hop whose other end the test plays.
#ifndef CABLEWAY_TESTS_CORE_FLOW_PLAYED_HOP_H_
#define CABLEWAY_TESTS_CORE_FLOW_PLAYED_HOP_H_

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/rdma/rdma_chunk_link.h"
#include "core/rdma/rdma_frame.h"
#include "sim/stub_rdma/stub_network.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway::test {

inline constexpr std::size_t kSlotRoom = 1024;

class RdmaRecorder final : public ChunkLink::Sink {
 public:
  absl::Status on_landed(const Frame& chunk) override {
    landed.push_back(chunk);
    return absl::OkStatus();
  }
  absl::Status on_chunk(const Frame& chunk, Slot& slot) override {
    chunks.push_back(chunk);
    slots.push_back(&slot);
    return absl::OkStatus();
  }
  absl::Status on_control(const Frame& control) override {
    controls.push_back(control);
    return absl::OkStatus();
  }
  void on_sent(Slot* slot) override { sent.push_back(slot); }

  std::vector<Frame> landed;
  std::vector<Frame> chunks;
  std::vector<Slot*> slots;
  std::vector<Frame> controls;
  std::vector<Slot*> sent;
};

// The other end of a hop; the test chooses every byte that it sends.
class PlayedEnd {
 public:
  explicit PlayedEnd(sim::StubDevice& device) : memory(kSlotRoom), registered(device.register_writable(memory)) {}

  void join(std::unique_ptr<sim::StubQueuePair> pair, const RdmaEndpoint& other) {
    pair_ = std::move(pair);
    other_ = other;
  }
  void send(const RdmaFrame& frame) { send(encode_rdma_frame(frame), sent_); }
  void send(RdmaFrame::What what, std::uint64_t address = 0, std::uint32_t key = 0) {
    send(RdmaFrame{what, {}, address, key, taken_});
  }
  void send(const Frame& frame, std::uint64_t address = 0, std::uint32_t key = 0) {
    send(RdmaFrame{RdmaFrame::What::kFrame, frame, address, key, taken_});
  }
  void send(const RdmaFrameBytes& bytes, std::uint32_t notice) {
    RdmaWrite write;
    write.data = bytes.data();
    write.bytes = kRdmaFrameBytes;
    write.to = other_.mailbox + sent_++ % RdmaQueuePair::kMaxNotices * RdmaQueuePair::kMailboxPlaceBytes;
    write.remote_key = other_.mailbox_key;
    write.inlined = write.notifies = write.reports = true;
    write.notice = notice;
    EXPECT_TRUE(pair_->post({&write, 1}).ok());
  }
  // Writes into memory of the link's side.
  void write(const void* to, std::uint32_t remote_key, std::uint32_t bytes) {
    RdmaWrite write;
    write.data = memory.data();
    write.bytes = bytes;
    write.local_key = registered.keys().local;
    write.to = reinterpret_cast<std::uint64_t>(to);
    write.remote_key = remote_key;
    EXPECT_TRUE(pair_->post({&write, 1}).ok());
  }
  // The frames that the link has sent since the last call.
  std::vector<RdmaFrame> received() {
    std::vector<RdmaFrame> frames;
    std::array<RdmaCompletion, 8> completions;
    for (;;) {
      const absl::StatusOr<std::size_t> polled = pair_->poll(completions);
      if (!polled.ok() || *polled == 0) return frames;
      for (std::size_t i = 0; i < *polled; ++i) {
        if (completions[i].kind == RdmaCompletion::Kind::kNoticed) frames.push_back(take(completions[i].notice));
      }
    }
  }
  std::vector<RdmaFrame::What> received_kinds() {
    std::vector<RdmaFrame::What> kinds;
    for (const RdmaFrame& frame : received()) kinds.push_back(frame.what);
    return kinds;
  }
  // Whether it reports taken frames to the link.
  void makes_room(bool makes) { makes_room_ = makes; }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory.data()); }
  std::uint32_t remote_key() const { return registered.keys().remote; }
  sim::StubQueuePair& pair() { return *pair_; }

  std::vector<std::byte> memory;
  const sim::StubMemory registered;

 private:
  RdmaFrame take(std::uint32_t notice) {
    EXPECT_EQ(notice, received_);
    RdmaFrameBytes bytes;
    const std::size_t place = received_++ % RdmaQueuePair::kMaxNotices * RdmaQueuePair::kMailboxPlaceBytes;
    std::memcpy(bytes.data(), &pair_->mailbox()[place], bytes.size());
    const absl::StatusOr<RdmaFrame> frame = decode_rdma_frame(bytes);
    EXPECT_TRUE(frame.ok()) << frame.status();
    if (makes_room_) {
      EXPECT_TRUE(pair_->expect_notices(1).ok());
      ++taken_;
    }
    return frame.value_or(RdmaFrame());
  }

  std::unique_ptr<sim::StubQueuePair> pair_;
  RdmaEndpoint other_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t taken_ = 0;
  bool makes_room_ = true;
};

// A link whose other end the test plays.
class PlayedHop : public testing::Test {
 protected:
  void make(RdmaChunkLink::Place place) {
    auto [near, far] = network_.make_pair(device_, far_device_);
    auto [line, far_line] = FakeLifeline::make_pair();
    pair_ = near.get();
    lifeline_ = line.get();
    far_lifeline_ = std::move(far_line);
    const RdmaEndpoint far_end = far->endpoint();
    played_.join(std::move(far), near->endpoint());
    link_ = std::make_unique<RdmaChunkLink>(std::move(near), far_end, std::move(line), place);
  }
  void make_sending() { make({false, false, 0}); }
  void make_sending_to_destination() { make({true, false, 0}); }
  void make_receiving() {
    make({false, true, 0});
    played_.send(RdmaFrame::What::kTaken);
  }

  absl::Status turn() {
    network_.deliver_all();
    absl::Status status = link_->progress(owner_);
    network_.deliver_all();
    return status;
  }
  std::string why() {
    const absl::Status status = turn();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
  static Frame chunk(std::uint32_t bytes, std::uint64_t message = 0) {
    return Frame{FrameKind::kChunk, bytes, message, 0, bytes};
  }

  sim::StubNetwork network_;
  sim::StubDevice& device_ = network_.add_device();
  sim::StubDevice& far_device_ = network_.add_device();
  std::vector<std::byte> slot_memory_ = std::vector<std::byte>(RdmaChunkLink::kMaxSlots * kSlotRoom);
  RdmaSlots registered_slots_{slot_memory_, kSlotRoom, device_, device_};
  std::vector<std::unique_ptr<Slot>> slots_ = registered_slots_.make_from(0);
  PlayedEnd played_{far_device_};
  RdmaRecorder owner_;
  std::vector<std::byte> payload_ = std::vector<std::byte>(kSlotRoom, std::byte{5});
  const sim::StubMemory payload_memory_ = device_.register_memory(payload_);
  const SendBuffer buffer_{payload_.data(), payload_memory_.keys().local};
  sim::StubQueuePair* pair_ = nullptr;
  FakeLifeline* lifeline_ = nullptr;
  std::unique_ptr<FakeLifeline> far_lifeline_;
  std::unique_ptr<RdmaChunkLink> link_;

  RegisteredSlot& slot(std::size_t number) { return static_cast<RegisteredSlot&>(*slots_[number]); }
  // The other end writes a chunk into an offered slot and sends its frame.
  void fill(const RegisteredSlot& slot, std::uint32_t bytes) {
    played_.write(slot.data(), slot.keys(0).remote, bytes);
    played_.send(chunk(bytes), reinterpret_cast<std::uint64_t>(slot.data()));
  }
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_PLAYED_HOP_H_
