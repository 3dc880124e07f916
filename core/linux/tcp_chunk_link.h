// A circuit's hop over TCP: one connection, owned from set-up to fence. At a flow's end it lands data in memory; at a
// relay it moves data through pipes, or through registered memory if the circuit's other hop goes over RDMA. It never
// blocks, and takes no signal: a process that relays ignores SIGPIPE,
// because splice(2) has no flag for it.
#ifndef CABLEWAY_CORE_LINUX_TCP_CHUNK_LINK_H_
#define CABLEWAY_CORE_LINUX_TCP_CHUNK_LINK_H_

#include <cstdint>
#include <variant>

#include "absl/strings/string_view.h"
#include "core/chunk_link.h"
#include "core/linux/landing_reader.h"
#include "core/linux/memory_slot_reader.h"
#include "core/linux/relay_memory.h"
#include "core/linux/slot_reader.h"
#include "core/linux/tcp_frame_writer.h"
#include "core/linux/unique_fd.h"

namespace cableway::linux_ {

class TcpChunkLink final : public ChunkLink {
 public:
  // At a relay the link to the upstream neighbour brings data, and the one to the downstream neighbour takes it.
  enum class Place { kFlowEnd, kRelayUpstream, kRelayDownstream };

  // What a relay's slots are: PipeSlot, or RdmaSlot.
  enum class Slots { kPipes, kMemory };

  // `socket` is connected, and its set-up frames have been exchanged. At a relay its buffers are made small, but for
  // the one in which data comes.
  TcpChunkLink(UniqueFd socket, Place place, Slots slots = Slots::kPipes);

  bool can_send() const override { return writer_.can_send(); }
  void send(const Frame& chunk, SendBuffer payload) override { writer_.begin(chunk, payload.data); }
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override;
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override;
  void post_slot(Slot& slot) override;
  bool withdraw_slot(Slot& slot) override;
  // Only at a relay, and only the direction in which data flows (relay_memory.h).
  void widen() override;
  bool narrow() override;
  absl::Status progress(Owner& owner) override;
  absl::Status flush(Owner& owner) override;
  std::uint64_t bytes_moved() const override;
  void fail(absl::string_view reason) override;
  void fence() override;

  int socket() const { return socket_.get(); }
  // At a relay: the poller's news of socket(), without which progress() does not look for arrivals (slot_reader.h).
  void on_readable(bool ended);
  // Gives the connection away, to be drained and closed (lingering_close.h). The link is fenced from here on.
  UniqueFd take_socket();

 private:
  absl::Status read(Owner& owner);
  void size_for_data(int send_bytes, std::uint32_t pipe_bytes);

  UniqueFd socket_;
  const Place place_;
  const Slots slots_;
  std::uint32_t pipe_bytes_ = kFloorPipeBytes;
  TcpFrameWriter writer_;
  std::variant<LandingReader, SlotReader, MemorySlotReader> reader_;
  bool fenced_ = false;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_TCP_CHUNK_LINK_H_
