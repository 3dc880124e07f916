// Measures a relay's CPU time per chunk over RDMA, without the wire: a flow through one relay on stub devices that move
// no payload. Only the relay's own calls are timed. Excluded are the devices' work between them, and the clock readings
// of the loop that calls it, one of which serves many circuits. Payload memory is not mapped, so a copy would crash.
// Prints one JSON object; exit status 1 if anything was copied or allocated. (callgrind counts the instructions:
// tools/bench.sh chunk.)
//
//   chunk by chunk  the relay runs after every chunk
//   in turns        the relay moves many chunks per run
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/clock.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "core/gate/port_stamps.h"
#include "core/relay/relay_circuit.h"
#include "routing/text/json_schema.h"
#include "tests/core/linux/allocation_counter.h"
#include "tests/core/rdma/rdma_circuit.h"

namespace cableway {
namespace {

constexpr std::uint32_t kChunkBytes = 65536;
constexpr std::size_t kChunksOfAMessage = 64;
constexpr std::size_t kMessageBytes = kChunksOfAMessage * kChunkBytes;
constexpr std::size_t kLeases = 31;
constexpr std::uint64_t kWarmUpChunks = 10'000;
constexpr char kChunkByChunk[] = "chunk_by_chunk";
constexpr char kInTurns[] = "in_turns";

// A reserved address range without memory.
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

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The minimum cost of reading the clock, which every measurement includes once.
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
  // Runs every component once; `timed` is called with the relay's work.
  template <typename Timed>
  absl::Status turn(Timed timed) {
    while (receiver_.can_post() && sender_.can_post()) {
      const Landing landing{to_.span().data(), kMessageBytes, writable_.keys().remote};
      if (const auto posted = receiver_.post(landing); !posted.ok()) return posted.status();
      const SendBuffer buffer{from_.span().data(), readable_.keys().local};
      if (const auto posted = sender_.post(buffer, kMessageBytes); !posted.ok()) return posted.status();
    }
    if (absl::Status status = sender_.progress(); !status.ok()) return status;
    now_ = Instant{std::chrono::steady_clock::now().time_since_epoch()};
    absl::Status relayed;
    timed([&] { relayed = relay_.progress().status(); });
    if (!relayed.ok()) return relayed;
    if (absl::Status status = receiver_.progress(); !status.ok()) return status;
    network_.deliver_all();
    return network_.misuse();
  }
  // Makes the relay lease its maximum of slots, by withholding its send completions for a while.
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
  // As a node's relay: it stamps the port by which chunks leave.
  PortStampPage page_{};
  Instant now_;
  RelayCircuit relay_{
      *first_.receiving, *second_.sending, slots_.make(0), pool_, {}, {.now = &now_, .port = {page_, "eth0"}}};
  FlowSender sender_{*first_.sending, kChunkBytes};
  FlowReceiver receiver_{*second_.receiving};
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

absl::StatusOr<Cost> run_turns(RelayedFlow& flow, std::uint64_t chunks) {
  Cost cost;
  const std::uint64_t first = flow.relay().chunks_relayed();
  const sim::StubQueuePair::Counts sent = flow.sent();
  const sim::StubQueuePair::Counts received = flow.received();
  const std::uint64_t allocations = host::test::allocations();
  const auto timed = [&](auto&& relay) {
    const std::int64_t begin = thread_cpu_ns();
    relay();
    cost.cpu_ns += thread_cpu_ns() - begin;
  };
  for (; flow.relay().chunks_relayed() - first < chunks; ++cost.turns) {
    if (absl::Status status = flow.turn(timed); !status.ok()) return status;
  }
  cost.allocations = host::test::allocations() - allocations;
  cost.chunks = flow.relay().chunks_relayed() - first;
  cost.payload_bytes = flow.sent().bytes - sent.bytes;
  cost.inlined_bytes =
      flow.sent().inlined_bytes - sent.inlined_bytes + flow.received().inlined_bytes - received.inlined_bytes;
  cost.posts = flow.sent().posts - sent.posts + flow.received().posts - received.posts;
  return cost;
}

// Relayed bytes that the device did not send from the slot in which they were received.
std::uint64_t copied_bytes(const Cost& cost) {
  const std::uint64_t sent_before = (1 + kLeases) * kChunkBytes;
  const std::uint64_t by_device = cost.payload_bytes + sent_before;
  const std::uint64_t relayed = cost.chunks * kChunkBytes;
  return relayed > by_device ? relayed - by_device : 0;
}

absl::StatusOr<nlohmann::ordered_json> measure(bool in_turns, std::uint64_t chunks) {
  RelayedFlow flow;
  if (absl::Status status = in_turns ? flow.fill() : absl::OkStatus(); !status.ok()) return status;
  if (const auto warm = run_turns(flow, kWarmUpChunks); !warm.ok()) return warm.status();
  const absl::StatusOr<Cost> cost = run_turns(flow, chunks);
  if (!cost.ok()) return cost.status();
  if (copied_bytes(*cost) != 0 || cost->allocations != 0) {
    return absl::InternalError(absl::StrCat(copied_bytes(*cost), " bytes were copied and ", cost->allocations,
                                            " allocations made: 0 of both expected"));
  }
  const auto per_chunk = [&](auto value) { return static_cast<double>(value) / static_cast<double>(cost->chunks); };
  const auto turns = static_cast<std::int64_t>(cost->turns);
  return nlohmann::ordered_json{{"chunks", cost->chunks},
                                {"chunks_a_turn", 1 / per_chunk(turns)},
                                {"slots", 1 + flow.relay().leases()},
                                {"cpu_us_per_chunk", per_chunk(cost->cpu_ns - turns * clock_cost_ns()) / 1000},
                                {"postings_per_chunk", per_chunk(cost->posts)},
                                {"frame_bytes_per_chunk", per_chunk(cost->inlined_bytes)},
                                {"copied_bytes", copied_bytes(*cost)},
                                {"allocations", cost->allocations}};
}

// The cases, or the one of that name.
int measure_cases(std::uint64_t chunks, const std::string& only) {
  nlohmann::ordered_json result{{routing::kSchemaMember, routing::kJsonSchema}, {"chunk_bytes", kChunkBytes}};
  for (const auto& [name, in_turns] : {std::pair{kChunkByChunk, false}, std::pair{kInTurns, true}}) {
    if (!only.empty() && only != name) continue;
    const absl::StatusOr<nlohmann::ordered_json> measured = measure(in_turns, chunks);
    if (!measured.ok()) {
      std::cerr << "relay_chunk: " << measured.status().message() << "\n";
      return 1;
    }
    result[name] = *measured;
  }
  std::cout << result << "\n";
  return 0;
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  const std::string text = argc == 2 || argc == 3 ? argv[1] : "";
  const std::string only = argc == 3 ? argv[2] : "";
  const bool known = argc != 3 || only == cableway::kChunkByChunk || only == cableway::kInTurns;
  if (!known || text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos ||
      text[0] == '0') {
    std::cerr << "usage: relay_chunk CHUNKS [" << cableway::kChunkByChunk << " | " << cableway::kInTurns
              << "], for example relay_chunk 1000000\n";
    return 2;
  }
  return cableway::measure_cases(std::stoull(text), only);
}
