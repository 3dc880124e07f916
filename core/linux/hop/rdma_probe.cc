#include "core/linux/hop/rdma_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/rdma_endpoint.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// One write fills the mailbox. The data in flight is the same as on a hop: 1 MiB is more than a fast cable holds, and
// takes 0.2 s on a slow cable of 40 Mbit/s.
constexpr std::uint32_t kWriteBytes = RdmaQueuePair::kMailboxBytes;
constexpr std::uint64_t kInFlight = (std::uint64_t{1} << 20) / kWriteBytes;
constexpr std::size_t kBatch = 8;              // writes in one posting; the last one reports
constexpr milliseconds kInFlightGrace{2000};   // for what is in flight at the end
constexpr milliseconds kBetweenQuestions{20};  // between calls of `ended`

// Posts and polls until all is written.
class Stream {
 public:
  Stream(VerbsQueuePair& pair, const RdmaEndpoint& other, const std::byte* source, std::uint32_t key) : pair_(pair) {
    for (RdmaWrite& write : writes_) {
      write.data = source;
      write.bytes = kWriteBytes;
      write.local_key = key;
      write.to = other.mailbox;
      write.remote_key = other.mailbox_key;
    }
    writes_.back().reports = true;
  }

  absl::StatusOr<ProbeData> run(milliseconds duration, const std::function<bool()>& ended) {
    const auto begin = steady_clock::now();
    auto last = begin;
    auto last_post = begin;
    auto next_question = begin + kBetweenQuestions;
    for (;;) {
      const auto now = steady_clock::now();
      // Writes at least once, even if this thread was not scheduled in time.
      const bool more = now < begin + duration || posted_ == 0;
      if (more && posted_ - done_ + kBatch <= kInFlight) {
        if (absl::Status status = pair_.post(writes_); !status.ok()) return status;
        posted_ += kBatch;
        last_post = steady_clock::now();
      }
      const absl::StatusOr<bool> some = poll();
      if (!some.ok()) return some.status();
      if (*some) last = steady_clock::now();
      if (!more && done_ == posted_) return ProbeData{done_ * kWriteBytes, last - begin};
      if (!*some && now > std::max({begin + duration, last_post, last}) + kInFlightGrace) {
        return absl::DeadlineExceededError("the neighbour's device does not acknowledge in time");
      }
      if (now > next_question) {
        if (ended()) return absl::UnavailableError("the neighbour ended the test");
        next_question = now + kBetweenQuestions;
      }
      if (!*some) std::this_thread::yield();
    }
  }

 private:
  // Whether a posting has completed.
  absl::StatusOr<bool> poll() {
    std::array<RdmaCompletion, 16> completions;
    const absl::StatusOr<std::size_t> filled = pair_.poll(completions);
    if (!filled.ok()) return filled.status();
    done_ += *filled * kBatch;
    return *filled > 0;
  }

  VerbsQueuePair& pair_;
  std::array<RdmaWrite, kBatch> writes_;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

absl::StatusOr<std::optional<TransportOffer>> RdmaProbe::open(const std::string& address) {
  absl::StatusOr<RdmaTransport::Opened> opened = transport_.open(address, "");
  if (!opened.ok()) return opened.status();
  half_ = std::move(opened->half);
  if (!half_) return std::nullopt;
  return TransportOffer{TransportKind::kRdma, encode_rdma_endpoint(half_->endpoint())};
}

absl::Status RdmaProbe::join(const TransportOffer& other, const std::string& address) {
  if (other.kind != TransportKind::kRdma) {
    return absl::InvalidArgumentError(
        absl::StrCat("a cable test cannot use a transport of kind ", static_cast<int>(other.kind)));
  }
  const absl::StatusOr<RdmaEndpoint> endpoint = decode_rdma_endpoint(other.parameters);
  if (!endpoint.ok()) return endpoint.status();
  packet_bytes_ = std::min(half_->endpoint().mtu, endpoint->mtu);
  return transport_.join(*half_, *endpoint, address);
}

std::string RdmaProbe::name() const {
  return absl::StrCat("rdma ", half_->device->name());
}

absl::StatusOr<ProbeData> RdmaProbe::send(milliseconds duration, const std::function<bool()>& ended) {
  const absl::StatusOr<MappedPages> source = MappedPages::create(kWriteBytes);
  if (!source.ok()) return source.status();
  const auto memory = VerbsMemory::add(half_->device, source->bytes().data(), kWriteBytes, {});
  if (!memory.ok()) return memory.status();
  Stream stream(*half_->queue_pair, half_->other, source->bytes().data(), (*memory)->keys().local);
  absl::StatusOr<ProbeData> sent = stream.run(duration, ended);
  // Before the memory is deregistered.
  half_->queue_pair->fence();
  return sent;
}

}  // namespace cableway::host
