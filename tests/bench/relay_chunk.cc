// What a relay's CPU does for one chunk over RDMA, without the wire: a flow through one relay on stub devices that move
// no payload. Only the relay's own calls are counted; the devices' work between them is not. No payload memory is
// mapped, so that a copy could not go unseen. Prints one JSON object; exit status 1 if anything was copied or
// allocated.
//
//   chunk by chunk  the relay looks after every chunk
//   in turns        it has many to move whenever it looks
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/flow_receiver.h"
#include "core/flow_sender.h"
#include "tests/core/linux/allocation_counter.h"
#include "tests/core/rdma_circuit.h"

namespace cableway {
namespace {

constexpr std::uint32_t kChunkBytes = 65536;
constexpr std::size_t kChunksOfAMessage = 64;
constexpr std::size_t kMessageBytes = kChunksOfAMessage * kChunkBytes;
constexpr std::size_t kLeases = 31;
constexpr std::uint64_t kWarmUpChunks = 10'000;

// Addresses without memory behind them.
class Unmapped {
 public:
  explicit Unmapped(std::size_t bytes)
      : bytes_(bytes), at_(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
  }
  Unmapped(const Unmapped&) = delete;
  Unmapped& operator=(const Unmapped&) = delete;
  ~Unmapped() { ::munmap(at_, bytes_); }
  std::span<std::byte> span() const { return {static_cast<std::byte*>(at_), bytes_}; }

 private:
  const std::size_t bytes_;
  void* const at_;
};

// User-mode instructions of this thread, between start() and stop(). Not every kernel and machine has them.
class InstructionCounter {
 public:
  InstructionCounter() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    descriptor_ = static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter() {
    if (available()) ::close(descriptor_);
  }
  bool available() const { return descriptor_ >= 0; }
  void start() const { ::ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0); }
  void stop() const { ::ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0); }
  std::uint64_t count() const {
    std::uint64_t count = 0;
    return ::read(descriptor_, &count, sizeof count) == sizeof count ? count : 0;
  }

 private:
  int descriptor_ = -1;
};

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// What asking twice costs, at least: it is in every figure once.
std::int64_t clock_cost_ns() {
  std::int64_t least = 1'000'000;
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t begin = thread_cpu_ns();
    least = std::min(least, thread_cpu_ns() - begin);
  }
  return least;
}

class RelayedFlow {
 public:
  // One turn of everybody; `around` is called with what the relay does.
  template <typename Around>
  absl::Status turn(Around around) {
    while (receiver_.can_post() && sender_.can_post()) {
      const Landing landing{to_.span().data(), kMessageBytes, writable_.keys().remote};
      if (const auto posted = receiver_.post(landing); !posted.ok()) return posted.status();
      const SendBuffer buffer{from_.span().data(), readable_.keys().local};
      if (const auto posted = sender_.post(buffer, kMessageBytes); !posted.ok()) return posted.status();
    }
    if (absl::Status status = sender_.progress(); !status.ok()) return status;
    absl::Status relayed;
    around([&] { relayed = relay_.progress().status(); });
    if (!relayed.ok()) return relayed;
    if (absl::Status status = receiver_.progress(); !status.ok()) return status;
    network_.deliver_all();
    return network_.misuse();
  }
  // Makes the relay lease all that it may have, by keeping from it for a while that what it sent has arrived.
  absl::Status fill() {
    second_.near_pair->hold_completions(true);
    absl::Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) status = turn([](auto&& relay) { relay(); });
    second_.near_pair->hold_completions(false);
    return status;
  }
  const RelayCircuit& relay() const { return relay_; }
  const sim::StubQueuePair::Counts& received() const { return first_.far_pair->counts(); }
  const sim::StubQueuePair::Counts& sent() const { return second_.near_pair->counts(); }

 private:
  sim::StubNetwork network_{sim::StubNetwork::Settings{.moves_payload = false}};
  sim::StubDevice& source_ = network_.add_device();
  sim::StubDevice& upstream_ = network_.add_device();
  sim::StubDevice& downstream_ = network_.add_device();
  sim::StubDevice& destination_ = network_.add_device();
  const Unmapped from_{kMessageBytes};
  const Unmapped to_{kMessageBytes};
  const Unmapped slot_memory_{(1 + kLeases) * kChunkBytes};
  const sim::StubMemory readable_ = source_.register_memory(from_.span());
  const sim::StubMemory writable_ = destination_.register_writable(to_.span());
  test::RdmaSlots slots_{slot_memory_.span(), kChunkBytes, upstream_, downstream_};
  SlotPool pool_{slots_.make_from(1), kLeases};
  test::RdmaHop first_{network_, source_, upstream_, 0, false};
  test::RdmaHop second_{network_, downstream_, destination_, 1, true};
  RelayCircuit relay_{*first_.taking, *second_.sending, slots_.make(0), pool_};
  FlowSender sender_{*first_.sending, kChunkBytes};
  FlowReceiver receiver_{*second_.taking};
};

struct Cost {
  std::uint64_t chunks = 0;
  std::uint64_t turns = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t allocations = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t inlined_bytes = 0;
  std::uint64_t posts = 0;
};

absl::StatusOr<Cost> run_turns(RelayedFlow& flow, std::uint64_t chunks, const InstructionCounter* counter) {
  Cost cost;
  const std::uint64_t first = flow.relay().chunks_relayed();
  const sim::StubQueuePair::Counts sent = flow.sent();
  const sim::StubQueuePair::Counts received = flow.received();
  const std::uint64_t allocations = linux_::test::allocations();
  const auto timed = [&](auto&& relay) {
    const std::int64_t begin = thread_cpu_ns();
    relay();
    cost.cpu_ns += thread_cpu_ns() - begin;
  };
  const auto counted = [&](auto&& relay) {
    counter->start();
    relay();
    counter->stop();
  };
  for (; flow.relay().chunks_relayed() - first < chunks; ++cost.turns) {
    if (absl::Status status = counter == nullptr ? flow.turn(timed) : flow.turn(counted); !status.ok()) return status;
  }
  cost.allocations = linux_::test::allocations() - allocations;
  cost.chunks = flow.relay().chunks_relayed() - first;
  cost.payload_bytes = flow.sent().bytes - sent.bytes;
  cost.inlined_bytes =
      flow.sent().inlined_bytes - sent.inlined_bytes + flow.received().inlined_bytes - received.inlined_bytes;
  cost.posts = flow.sent().posts - sent.posts + flow.received().posts - received.posts;
  return cost;
}

// What left, and was not read by the device from the slot that it had arrived in.
std::uint64_t copied_bytes(const Cost& cost) {
  const std::uint64_t sent_before = (1 + kLeases) * kChunkBytes;
  const std::uint64_t by_device = cost.payload_bytes + sent_before;
  const std::uint64_t relayed = cost.chunks * kChunkBytes;
  return relayed > by_device ? relayed - by_device : 0;
}

absl::StatusOr<nlohmann::ordered_json> measure(bool in_turns, std::uint64_t chunks) {
  RelayedFlow flow;
  if (absl::Status status = in_turns ? flow.fill() : absl::OkStatus(); !status.ok()) return status;
  if (const auto warm = run_turns(flow, kWarmUpChunks, nullptr); !warm.ok()) return warm.status();
  const absl::StatusOr<Cost> cost = run_turns(flow, chunks, nullptr);
  if (!cost.ok()) return cost.status();
  if (copied_bytes(*cost) != 0 || cost->allocations != 0) {
    return absl::InternalError(absl::StrCat(copied_bytes(*cost), " bytes were copied and ", cost->allocations,
                                            " allocations made: 0 of both expected"));
  }
  const auto per_chunk = [&](auto value) { return static_cast<double>(value) / static_cast<double>(cost->chunks); };
  const auto turns = static_cast<std::int64_t>(cost->turns);
  nlohmann::ordered_json result{{"chunks", cost->chunks},
                                {"chunks_a_turn", 1 / per_chunk(turns)},
                                {"slots", 1 + flow.relay().leases()},
                                {"cpu_us_per_chunk", per_chunk(cost->cpu_ns - turns * clock_cost_ns()) / 1000},
                                {"postings_per_chunk", per_chunk(cost->posts)},
                                {"frame_bytes_per_chunk", per_chunk(cost->inlined_bytes)},
                                {"copied_bytes", copied_bytes(*cost)},
                                {"allocations", cost->allocations},
                                {"instructions_per_chunk", nullptr}};
  const InstructionCounter counter;
  if (!counter.available()) return result;
  const absl::StatusOr<Cost> counted = run_turns(flow, chunks / 10, &counter);
  if (!counted.ok()) return counted.status();
  result["instructions_per_chunk"] = static_cast<double>(counter.count()) / static_cast<double>(counted->chunks);
  return result;
}

int measure_both(std::uint64_t chunks) {
  nlohmann::ordered_json result{{"chunk_bytes", kChunkBytes}};
  for (const bool in_turns : {false, true}) {
    const absl::StatusOr<nlohmann::ordered_json> measured = measure(in_turns, chunks);
    if (!measured.ok()) {
      std::cerr << "relay_chunk: " << measured.status().message() << "\n";
      return 1;
    }
    result[in_turns ? "in_turns" : "chunk_by_chunk"] = *measured;
  }
  std::cout << result << "\n";
  return 0;
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  const std::string text = argc == 2 ? argv[1] : "";
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos || text[0] == '0') {
    std::cerr << "usage: relay_chunk CHUNKS, such as 1000000\n";
    return 2;
  }
  return cableway::measure_both(std::stoull(text));
}
