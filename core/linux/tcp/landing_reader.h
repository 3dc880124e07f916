// The receiving half of a TCP hop at a flow's end. Reads in bulk into a small staging buffer that stays in the cache,
// and places payload from there by ordered stores, whole 128-byte lines at a time, because NCCL may be polling flags in
// the destination meanwhile (ordered_store.h). The kernel's copy does not guarantee that order.
//
// A chunk's checksum is checked before its last bytes are placed. A chunk of up to kHeldBytes is placed only after
// all of it has arrived, so nothing of a chunk that fails the check is placed. The first parts of a larger chunk may
// be visible before the check.
#ifndef CABLEWAY_CORE_LINUX_TCP_LANDING_READER_H_
#define CABLEWAY_CORE_LINUX_TCP_LANDING_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/flow/chunk_checksum.h"
#include "core/flow/chunk_link.h"
#include "core/flow/frame.h"

namespace cableway::host {

class LandingReader {
 public:
  static constexpr std::uint32_t kHeldBytes = 64U << 10;

  // `checksums`: whether the checksums of chunks are checked.
  LandingReader(int socket, bool checksums);

  absl::Status post_landing(std::uint64_t message, const Landing& landing);
  void end_landing(std::uint64_t message) { posted_[message % kMaxLandings].active = false; }
  // Reads until the socket is empty, or up to the limit of a turn.
  absl::Status progress(ChunkLink::Sink& sink);
  void forget_landings();
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Posted {
    std::uint64_t message = 0;
    Landing landing;
    bool active = false;
  };

  absl::Status consume(ChunkLink::Sink& sink);
  absl::StatusOr<bool> consume_header(ChunkLink::Sink& sink);
  absl::StatusOr<bool> consume_payload(ChunkLink::Sink& sink);
  absl::Status begin_chunk(const Frame& chunk);
  absl::StatusOr<bool> place_part(const Posted& place, ChunkLink::Sink& sink);
  absl::Status end_chunk(ChunkLink::Sink& sink);
  absl::string_view within_chunk() const;
  std::size_t staged() const { return end_ - begin_; }

  const int socket_;
  const bool checksums_;
  std::vector<std::byte> staging_;
  std::size_t begin_ = 0;  // staged bytes are [begin_, end_)
  std::size_t end_ = 0;
  std::array<Posted, kMaxLandings> posted_;
  std::optional<Frame> chunk_;  // the chunk whose payload is arriving
  std::uint32_t placed_ = 0;    // bytes of it that have been placed
  ChunkChecksum sum_;           // of the placed bytes
  std::uint64_t bytes_read_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_LANDING_READER_H_
