#include "core/linux/tcp/tcp_transport.h"

#include <cstdint>
#include <string>
#include <utility>

#include "core/linux/tcp/data_socket.h"
#include "core/linux/tcp/tcp_chunk_link.h"

namespace cableway::host {
namespace {

TcpChunkLink::Place place_of(HopPlace place) {
  if (place == HopPlace::kRelayUpstream) return TcpChunkLink::Place::kRelayUpstream;
  if (place == HopPlace::kRelayDownstream) return TcpChunkLink::Place::kRelayDownstream;
  return TcpChunkLink::Place::kFlowEnd;
}

class TcpHop final : public HopLink {
 public:
  TcpHop(UniqueFd socket, const HopLinkOptions& options)
      : link_(std::move(socket), place_of(options.place), options.slots, options.checksums) {}

  ChunkLink& link() override { return link_; }
  int socket() const override { return link_.socket(); }
  void on_readable(bool ended) override { link_.on_readable(ended); }
  absl::Status check() override { return check_silence(socket()); }
  UniqueFd take_socket() override { return link_.take_socket(); }

 private:
  TcpChunkLink link_;
};

class TcpEnd final : public HostEnd {
 public:
  std::string name() const override { return "tcp"; }
  std::uint32_t max_chunk_bytes() const override { return kMaxChunkBytes; }
  absl::StatusOr<std::unique_ptr<HopLink>> make_link(UniqueFd connection, const HopLinkOptions& options) override {
    return std::make_unique<TcpHop>(std::move(connection), options);
  }
  SlotKind slots() const override { return SlotKind::kUnregistered; }
};

}  // namespace

std::unique_ptr<HostEnd> make_tcp_end() {
  return std::make_unique<TcpEnd>();
}

}  // namespace cableway::host
