// A circuit's hop over TCP: one connection, owned from set-up to fence. At a flow's end it lands data in memory; at a
// relay it moves data through pipes, or through registered memory if the circuit's other hop goes over RDMA. It never
// blocks. A process that relays must ignore SIGPIPE, because splice(2) has no flag to suppress it.
#ifndef CABLEWAY_CORE_LINUX_TCP_TCP_CHUNK_LINK_H_
#define CABLEWAY_CORE_LINUX_TCP_TCP_CHUNK_LINK_H_

#include <cstdint>
#include <variant>

#include "absl/strings/string_view.h"
#include "core/flow/chunk_link.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/tcp/landing_reader.h"
#include "core/linux/tcp/pipe_slot_reader.h"
#include "core/linux/tcp/registered_slot_reader.h"
#include "core/linux/tcp/relay_memory.h"
#include "core/linux/tcp/tcp_frame_writer.h"

namespace cableway::host {

class TcpChunkLink final : public ChunkLink {
 public:
  // At a relay, data arrives from the upstream neighbour's link and leaves on the downstream neighbour's.
  enum class Place { kFlowEnd, kRelayUpstream, kRelayDownstream };

  // `socket` must be connected, its set-up frames exchanged. At a relay its buffers are made small, except the one that
  // receives data.
  // `checksums`: whether this end makes and checks the checksums of chunks that are in memory (chunk_checksum.h).
  TcpChunkLink(UniqueFd socket, Place place, SlotKind slots = SlotKind::kUnregistered, bool checksums = true);

  bool can_send() const override { return writer_.can_send(); }
  bool has_queued_controls() const override { return writer_.has_queued(); }
  void send(const Frame& chunk, SendBuffer payload) override { writer_.begin(chunk, payload.data); }
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override;
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override;
  void end_landing(std::uint64_t message) override;
  void post_slot(Slot& slot) override;
  bool withdraw_slot(Slot& slot) override;
  // At a relay only, and only in the data's direction (relay_memory.h).
  void widen() override;
  bool narrow() override;
  absl::Status progress(Sink& sink) override;
  absl::Status flush(Sink& sink) override;
  std::uint64_t bytes_moved() const override;
  void fail(absl::string_view reason, FailureScope scope) override;
  void fence() override;

  int socket() const { return socket_.get(); }
  // At a relay: an event of socket() from the poller, without which progress() does not read (pipe_slot_reader.h).
  void on_readable(bool ended);
  // Releases the connection, to be drained and closed (lingering_close.h). Fences the link.
  UniqueFd take_socket();

 private:
  absl::Status read(Sink& sink);
  void size_for_data(int send_bytes, std::uint32_t pipe_bytes);

  UniqueFd socket_;
  const Place place_;
  const SlotKind slots_;
  std::uint32_t pipe_bytes_ = kFloorPipeBytes;
  TcpFrameWriter writer_;
  std::variant<LandingReader, PipeSlotReader, RegisteredSlotReader> reader_;
  bool fenced_ = false;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_TCP_CHUNK_LINK_H_
