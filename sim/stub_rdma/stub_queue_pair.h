// RdmaQueuePair on a stub device: one end of a reliable connection in memory, with the worst timing a device may have.
//
// - A write's bytes are read when it lands, not when it is posted, and again when its completion is reported, as by a
//   device that retransmits: memory reused in between is misuse, and ends the connection.
// - A notice arrives after the bytes of all writes before it, a completion after the bytes have landed.
// - The acknowledgement of landed bytes may be lost. The next acknowledgement covers them too; if the peer no longer
//   exists by then, they are not complete and the connection is dead.
// - An invalid write (keys, bounds) ends the connection: here with the device's error, and at the peer too if the peer
//   refused it. So does a notice without room, at its sender.
// - Only an end that writes to a destroyed peer detects that.
// - Writes that fence() finds on the wire land afterwards, unless the peer is fenced, too.
//
// post(), poll(), expect_notices(), deliver() and complete() allocate nothing. One thread at a time for a whole
// network.
#ifndef CABLEWAY_SIM_STUB_RDMA_STUB_QUEUE_PAIR_H_
#define CABLEWAY_SIM_STUB_RDMA_STUB_QUEUE_PAIR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/rdma/rdma_queue_pair.h"
#include "sim/stub_rdma/stub_device.h"

namespace cableway::sim {

class StubNetwork;

class StubQueuePair final : public RdmaQueuePair {
 public:
  // What its owner has requested so far.
  struct Counts {
    std::uint64_t posts = 0;  // calls
    std::uint64_t writes = 0;
    std::uint64_t bytes = 0;          // of writes that are not inlined: their memory is read, nothing is copied
    std::uint64_t inlined_bytes = 0;  // copied while they were posted
    std::uint64_t reports = 0;        // completions of writes
    std::uint64_t notices = 0;        // received here
  };

  // Moves the posted writes by a clock (rdma_wire.h). Outlives this.
  class Mover {
   public:
    virtual ~Mover() = default;
    // This many more writes are to land.
    virtual void on_posted(std::size_t writes) = 0;
    // No write is to land any more, except for `late` ones on the wire: deliver_late() of the other end.
    virtual void on_fenced(std::size_t late) = 0;
  };

  // Created by StubNetwork, which outlives this.
  StubQueuePair(StubNetwork& network, StubDevice& device, std::uint32_t number, std::uint32_t packet_sequence);
  ~StubQueuePair() override;

  RdmaEndpoint endpoint() const override;
  std::span<const std::byte> mailbox() const override { return mailbox_->bytes; }
  absl::Status connect(const RdmaEndpoint& other) override;
  absl::Status post(std::span<const RdmaWrite> writes) override;
  absl::Status expect_notices(std::uint32_t count) override;
  absl::StatusOr<std::size_t> poll(std::span<RdmaCompletion> completions) override;
  void fence() override;

  // Lands the oldest write that has not landed. False: there is none, it is held, or the other end has not been joined.
  bool deliver();
  // Lands the oldest write that the other end left on the wire when it was fenced.
  bool deliver_late();
  // Completes the oldest landed write: poll() reports it if that was requested.
  bool complete();
  // complete() will request the acknowledgement again.
  bool misses_acknowledgement() const { return completed_ == acknowledged_ && completed_ != landed_; }
  // While held: no write from here lands; no landed write completes; acknowledgements of landing writes are lost.
  void hold_writes(bool held) { writes_held_ = held; }
  void hold_completions(bool held) { completions_held_ = held; }
  void lose_acknowledgements(bool lost) { acknowledgements_lost_ = lost; }
  // After `others` more writes have landed, the next one fails half-way with the device's error `device_error`.
  void fail_write(std::uint64_t others, absl::string_view device_error);
  // The device fails.
  void fail(const absl::Status& device_error);

  // To be called once, before anything is posted.
  void set_mover(Mover& mover) { mover_ = &mover; }
  // poll() has a completion or an error.
  bool has_reports() const { return !fenced_ && (reported_first_ != reported_end_ || !dead_.ok()); }
  // No write that is posted here will be answered any more.
  bool other_end_is_gone() const { return joined_ && find_peer() == Peer::kGone; }
  // The size of the write that will land after `others` more.
  std::uint32_t bytes_in_flight(std::size_t others) const { return ring_[(landed_ + others) % kMaxWrites].write.bytes; }

  const Counts& counts() const { return counts_; }
  std::size_t writes_in_flight() const { return static_cast<std::size_t>(posted_ - landed_); }
  std::size_t room_for_notices() const { return room_; }

 private:
  struct alignas(kMailboxPlaceBytes) Mailbox {
    std::array<std::byte, kMailboxBytes> bytes{};
  };
  struct Outstanding {
    RdmaWrite write;
    std::array<std::byte, kMaxInlineBytes> inlined{};
    std::size_t content = 0;  // a hash of what landed

    const std::byte* bytes() const { return write.inlined ? inlined.data() : write.data; }
  };
  struct Late {
    RdmaWrite write;
    std::vector<std::byte> bytes;
  };
  struct Reported {
    RdmaCompletion completion{};
    std::uint64_t stands_for = 0;  // kWritten: up to this write
  };
  enum class Peer : std::uint8_t { kThere, kNotJoined, kGone };

  Outstanding& at(std::uint64_t write) { return ring_[write % kMaxWrites]; }
  absl::Status check_usable() const;
  absl::Status take(const RdmaWrite& write);
  absl::Status misused(const std::string& how);
  StubQueuePair* peer() const;
  Peer find_peer() const;
  std::size_t leave_on_the_wire();
  absl::Status land_next();
  void request_acknowledgement();
  absl::Status fail_here(Outstanding& next, StubQueuePair& there);
  absl::Status accept(const RdmaWrite& write, const std::byte* bytes);
  void move_bytes(const RdmaWrite& write, const std::byte* bytes, std::uint32_t count) const;
  void report(const Reported& reported);
  void report_written(std::uint64_t write);
  void end(const absl::Status& why);
  std::size_t hash_of(const RdmaWrite& write) const;

  StubNetwork& network_;
  StubDevice& device_;
  Mover* mover_ = nullptr;
  const std::uint32_t number_;
  const std::uint32_t packet_sequence_;
  const std::unique_ptr<Mailbox> mailbox_;
  const StubMemory mailbox_memory_;
  RdmaEndpoint other_;
  bool joined_ = false;
  bool fenced_ = false;
  absl::Status dead_;

  std::vector<Outstanding> ring_;
  std::uint64_t posted_ = 0;
  std::uint64_t landed_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t released_ = 0;  // completion returned by poll()
  bool writes_held_ = false;
  bool completions_held_ = false;
  bool acknowledgements_lost_ = false;
  std::uint64_t failing_write_ = ~std::uint64_t{0};
  std::string failing_error_;

  std::vector<Reported> reported_;  // a ring
  std::uint64_t reported_first_ = 0;
  std::uint64_t reported_end_ = 0;
  std::uint32_t room_ = 0;
  std::uint32_t unseen_notices_ = 0;
  std::deque<Late> late_;  // from the fenced other end
  Counts counts_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_STUB_QUEUE_PAIR_H_
