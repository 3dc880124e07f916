// A circuit's hop over TCP: one connection, owned from set-up to fence. At a flow's end it lands data in memory; at a
// relay it moves data through pipes, or through registered memory if the circuit's other hop goes over RDMA. It never
// blocks, and takes no signal: a process that relays ignores SIGPIPE,
// because splice(2) has no flag for it.
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
  // At a relay the link to the upstream neighbour brings data, and the one to the downstream neighbour takes it.
  enum class Place { kFlowEnd, kRelayUpstream, kRelayDownstream };

  // `socket` is connected, and its set-up frames have been exchanged. At a relay its buffers are made small, but for
  // the one in which data comes.
  TcpChunkLink(UniqueFd socket, Place place, SlotKind slots = SlotKind::kPipe);

  bool can_send() const override { return writer_.can_send(); }
  void send(const Frame& chunk, SendBuffer payload) override { writer_.begin(chunk, payload.data); }
  void send(const Frame& chunk, Slot& slot) override;
  absl::Status send_control(const Frame& control) override;
  absl::Status post_landing(std::uint64_t message, const Landing& landing) override;
  void end_landing(std::uint64_t message) override;
  void post_slot(Slot& slot) override;
  bool withdraw_slot(Slot& slot) override;
  // Only at a relay, and only the direction in which data flows (relay_memory.h).
  void widen() override;
  bool narrow() override;
  absl::Status progress(Sink& sink) override;
  absl::Status flush(Sink& sink) override;
  std::uint64_t bytes_moved() const override;
  void fail(absl::string_view reason) override;
  void fence() override;

  int socket() const { return socket_.get(); }
  // At a relay: the poller's news of socket(), without which progress() does not look for arrivals
  // (pipe_slot_reader.h).
  void on_readable(bool ended);
  // Gives the connection away, to be drained and closed (lingering_close.h). The link is fenced from here on.
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
