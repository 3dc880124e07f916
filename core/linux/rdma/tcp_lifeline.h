// The connection beside an RDMA hop (core/rdma/rdma_chunk_link.h), on which it was set up. It carries no data until one
// end leaves.
#ifndef CABLEWAY_CORE_LINUX_RDMA_TCP_LIFELINE_H_
#define CABLEWAY_CORE_LINUX_RDMA_TCP_LIFELINE_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/flow/frame.h"
#include "core/linux/os/unique_fd.h"
#include "core/rdma/rdma_chunk_link.h"

namespace cableway::host {

class TcpLifeline final : public HopLifeline {
 public:
  explicit TcpLifeline(UniqueFd socket) : socket_(std::move(socket)) {}

  absl::StatusOr<std::optional<Frame>> look() override;
  void leave(std::span<const Frame> last, const std::optional<Failure>& failure) override;

  int socket() const { return socket_.get(); }
  // Call after leave(), for draining and closing (lingering_close.h).
  UniqueFd take_socket() { return std::move(socket_); }

 private:
  // Fills staging_ up to `bytes`. False: they have not all arrived.
  absl::StatusOr<bool> fill(std::size_t bytes);

  UniqueFd socket_;
  std::array<std::byte, kFrameHeaderBytes + kMaxFailureText> staging_;
  std::size_t staged_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_TCP_LIFELINE_H_
