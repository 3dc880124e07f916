#include "core/linux/tcp/landing_reader.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/flow/ordered_store.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/connection_error.h"
#include "core/printable.h"

namespace cableway::host {
namespace {

// Large enough that a system call costs little per byte, small enough to stay in a core's second-level cache.
constexpr std::size_t kStagingBytes = 128U << 10;
constexpr std::uint64_t kBytesPerTurn = 4U << 20;
// At least half of it is free for each read.
static_assert(LandingReader::kHeldBytes <= kStagingBytes / 2);

}  // namespace

LandingReader::LandingReader(int socket, bool checksums)
    : socket_(socket), checksums_(checksums), staging_(kStagingBytes) {}

absl::Status LandingReader::post_landing(std::uint64_t message, const Landing& landing) {
  Posted& place = posted_[message % kMaxLandings];
  if (place.active) return absl::ResourceExhaustedError("more receives are posted than a flow may have");
  place = Posted{message, landing, true};
  return absl::OkStatus();
}

void LandingReader::forget_landings() {
  for (Posted& place : posted_) place.active = false;
  chunk_.reset();
}

absl::Status LandingReader::progress(ChunkLink::Sink& sink) {
  for (const std::uint64_t begin = bytes_read_; bytes_read_ - begin < kBytesPerTurn;) {
    const std::size_t room = staging_.size() - end_;
    const ssize_t got = uninterrupted([&] { return ::recv(socket_, &staging_[end_], room, MSG_DONTWAIT); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return absl::OkStatus();
    if (got < 0) return connection_error(errno, absl::StrCat("cannot read from the peer", within_chunk()));
    if (got == 0) return absl::CancelledError(absl::StrCat(kPeerClosed, within_chunk()));
    bytes_read_ += static_cast<std::uint64_t>(got);
    end_ += static_cast<std::size_t>(got);
    if (absl::Status status = consume(sink); !status.ok()) return status;
    if (static_cast<std::size_t>(got) < room) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::string_view LandingReader::within_chunk() const {
  // In the middle of a chunk a relay cannot send the cause of the circuit's end (docs/protocol.md).
  return chunk_.has_value() ? " in the middle of a chunk: that node, or one before it on the path, is gone" : "";
}

absl::Status LandingReader::consume(ChunkLink::Sink& sink) {
  while (true) {
    absl::StatusOr<bool> consumed = chunk_.has_value() ? consume_payload(sink) : consume_header(sink);
    if (!consumed.ok()) return consumed.status();
    if (!*consumed) break;
  }
  // What remains is shorter than a header, a failure's text, a line or a chunk that is held back.
  if (begin_ > 0) std::memmove(staging_.data(), staging_.data() + begin_, staged());
  end_ = staged();
  begin_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> LandingReader::consume_header(ChunkLink::Sink& sink) {
  if (staged() < kFrameHeaderBytes) return false;
  absl::StatusOr<Frame> frame =
      decode_frame(std::span<const std::byte, kFrameHeaderBytes>(&staging_[begin_], kFrameHeaderBytes));
  if (!frame.ok()) return frame.status();
  if (frame->kind == FrameKind::kFailed) {
    if (staged() < kFrameHeaderBytes + frame->payload) return false;
    const char* text = reinterpret_cast<const char*>(&staging_[begin_ + kFrameHeaderBytes]);
    return received_failure(scope_of(*frame), printable(std::string_view(text, frame->payload)));
  }
  begin_ += kFrameHeaderBytes;
  if (frame->kind == FrameKind::kChunk) {
    if (absl::Status status = begin_chunk(*frame); !status.ok()) return status;
    return true;
  }
  if (!is_control(frame->kind)) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent a frame ", to_text(frame->kind), " on a circuit that is already set up"));
  }
  if (absl::Status status = sink.on_control(*frame); !status.ok()) return status;
  return true;
}

absl::Status LandingReader::begin_chunk(const Frame& chunk) {
  const Posted& place = posted_[chunk.message % kMaxLandings];
  if (!place.active || place.message != chunk.message) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent data of message ", chunk.message, ", which has not been announced"));
  }
  if (chunk.size > place.landing.capacity) {
    return absl::InvalidArgumentError(absl::StrCat("peer sent message ", chunk.message, " of ", chunk.size,
                                                   " bytes into a receive of ", place.landing.capacity));
  }
  chunk_ = chunk;
  placed_ = 0;
  sum_ = {};
  return absl::OkStatus();
}

absl::StatusOr<bool> LandingReader::consume_payload(ChunkLink::Sink& sink) {
  const Posted& place = posted_[chunk_->message % kMaxLandings];
  if (!place.active || place.message != chunk_->message) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent data of message ", chunk_->message, ", which is already complete"));
  }
  return place_part(place, sink);
}

absl::StatusOr<bool> LandingReader::place_part(const Posted& place, ChunkLink::Sink& sink) {
  const std::uint32_t missing = chunk_->payload - placed_;
  const bool checked = checksums_ && chunk_->checksum != 0;
  if (checked && chunk_->payload <= kHeldBytes && staged() < missing) return false;
  std::size_t bytes = std::min<std::size_t>(missing, staged());
  if (bytes < missing) bytes -= bytes % kLineBytes;
  if (bytes == 0 && missing > 0) return false;
  if (checked) {
    sum_.add({&staging_[begin_], bytes});
    if (bytes == missing) {
      if (absl::Status status = check_checksum(*chunk_, sum_); !status.ok()) return status;
    }
  }
  if (bytes > 0) ordered_store(place.landing.data + chunk_->offset + placed_, &staging_[begin_], bytes);
  begin_ += bytes;
  placed_ += static_cast<std::uint32_t>(bytes);
  if (placed_ == chunk_->payload) {
    if (absl::Status status = end_chunk(sink); !status.ok()) return status;
  }
  return true;
}

absl::Status LandingReader::end_chunk(ChunkLink::Sink& sink) {
  const Frame chunk = *chunk_;
  chunk_.reset();
  return sink.on_landed(chunk);
}

}  // namespace cableway::host
