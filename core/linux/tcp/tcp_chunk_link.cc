#include "core/linux/tcp/tcp_chunk_link.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "core/linux/tcp/data_socket.h"

namespace cableway::host {
namespace {

std::variant<LandingReader, PipeSlotReader, RegisteredSlotReader> make_reader(int socket, TcpChunkLink::Place place,
                                                                              SlotKind slots, bool checksums) {
  if (place == TcpChunkLink::Place::kFlowEnd) return LandingReader(socket, checksums);
  if (slots == SlotKind::kRegistered) return RegisteredSlotReader(socket, checksums);
  return PipeSlotReader(socket);
}

}  // namespace

TcpChunkLink::TcpChunkLink(UniqueFd socket, Place place, SlotKind slots, bool checksums)
    : socket_(std::move(socket)),
      place_(place),
      slots_(slots),
      writer_(socket_.get(), checksums),
      reader_(make_reader(socket_.get(), place, slots, checksums)) {
  // splice(2) from a socket blocks unless the descriptor itself is non-blocking: the call's flag only covers the pipe.
  static_cast<void>(::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK));
  if (place == Place::kFlowEnd) return;
  // If this fails the old size stays: more memory, never wrong. No data has arrived yet that could be dropped.
  if (place == Place::kRelayUpstream) {
    static_cast<void>(set_send_buffer(socket_.get(), kControlBufferBytes));
  } else {
    static_cast<void>(set_receive_buffer(socket_.get(), kControlBufferBytes));
    static_cast<void>(set_send_buffer(socket_.get(), kFloorSendBytes));
  }
  if (auto* pipes = std::get_if<PipeSlotReader>(&reader_)) pipes->bound_pipes(kFloorPipeBytes);
}

void TcpChunkLink::send(const Frame& chunk, Slot& slot) {
  if (slots_ == SlotKind::kRegistered) return writer_.begin(chunk, static_cast<RegisteredSlot&>(slot));
  writer_.begin(chunk, static_cast<PipeSlot&>(slot));
}

absl::Status TcpChunkLink::send_control(const Frame& control) {
  return writer_.queue(control);
}

absl::Status TcpChunkLink::post_landing(std::uint64_t message, const Landing& landing) {
  return std::get<LandingReader>(reader_).post_landing(message, landing);
}

void TcpChunkLink::end_landing(std::uint64_t message) {
  std::get<LandingReader>(reader_).end_landing(message);
}

void TcpChunkLink::post_slot(Slot& slot) {
  if (auto* memory = std::get_if<RegisteredSlotReader>(&reader_))
    return memory->post_slot(static_cast<RegisteredSlot&>(slot));
  std::get<PipeSlotReader>(reader_).post_slot(static_cast<PipeSlot&>(slot));
}

bool TcpChunkLink::withdraw_slot(Slot& slot) {
  if (auto* memory = std::get_if<RegisteredSlotReader>(&reader_)) {
    return memory->withdraw_slot(static_cast<RegisteredSlot&>(slot));
  }
  return std::get<PipeSlotReader>(reader_).withdraw_slot(static_cast<PipeSlot&>(slot));
}

void TcpChunkLink::widen() {
  size_for_data(kSendBufferBytes, kWidePipeBytes);
}

bool TcpChunkLink::narrow() {
  size_for_data(kFloorSendBytes, kFloorPipeBytes);
  // Shrinking a buffer does not drop its contents, so they must fit.
  return place_ == Place::kRelayUpstream || unsent_memory(socket_.get()) <= 2ULL * kFloorSendBytes + kLastPacketSent;
}

void TcpChunkLink::size_for_data(int send_bytes, std::uint32_t pipe_bytes) {
  if (std::exchange(pipe_bytes_, pipe_bytes) == pipe_bytes) return;
  if (auto* pipes = std::get_if<PipeSlotReader>(&reader_)) pipes->bound_pipes(pipe_bytes);
  if (place_ == Place::kRelayDownstream) static_cast<void>(set_send_buffer(socket_.get(), send_bytes));
}

absl::Status TcpChunkLink::progress(Sink& sink) {
  if (fenced_) return absl::FailedPreconditionError("the circuit is closed");
  // Reading may queue answers, so writing comes second.
  if (absl::Status status = read(sink); !status.ok()) return status;
  return flush(sink);
}

absl::Status TcpChunkLink::flush(Sink& sink) {
  if (fenced_) return absl::FailedPreconditionError("the circuit is closed");
  absl::Status written = writer_.progress(sink);
  if (written.ok()) return written;
  // A peer that failed the circuit has sent its reason first, which is more useful than a broken pipe.
  on_readable(true);
  absl::Status received = read(sink);
  return received.ok() ? written : received;
}

absl::Status TcpChunkLink::read(Sink& sink) {
  return std::visit([&](auto& reader) { return reader.progress(sink); }, reader_);
}

std::uint64_t TcpChunkLink::bytes_moved() const {
  return writer_.bytes_written() + std::visit([](const auto& reader) { return reader.bytes_read(); }, reader_);
}

void TcpChunkLink::fail(absl::string_view reason, FailureScope scope) {
  if (fenced_) return;
  writer_.try_send_failure(reason, scope);
  fence();
}

void TcpChunkLink::fence() {
  if (auto* reader = std::get_if<LandingReader>(&reader_)) reader->forget_landings();
  if (!fenced_) ::shutdown(socket_.get(), SHUT_WR);
  fenced_ = true;
}

void TcpChunkLink::on_readable(bool ended) {
  if (auto* reader = std::get_if<PipeSlotReader>(&reader_)) reader->on_readable(ended);
}

UniqueFd TcpChunkLink::take_socket() {
  fence();
  return std::move(socket_);
}

}  // namespace cableway::host
