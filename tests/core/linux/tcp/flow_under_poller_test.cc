// A thread polls receives while they land, as NCCL's LL128 kernels do: line by line, each as soon as its flag has
// changed. Meanwhile healthy TCP circuits under load are retired, by either end or by both, and replaced. No line may
// show its flag before its data, and nothing may be written to a receive that is done.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/linux/tcp/tcp_circuit.h"
#include "tests/slow_build.h"

namespace cableway::host {
namespace {

constexpr std::size_t kPolledSlots = 4;  // receives that are posted again and again
constexpr std::size_t kPolledWords = 64U << 10 >> 3;
constexpr std::size_t kWordsOfLine = kLineBytes / sizeof(std::uint64_t);
constexpr std::uint64_t kLeastMessages = cableway::test::cases_here(200U);
constexpr std::uint64_t kLeastRetired = cableway::test::cases_here(50U);
constexpr std::uint64_t kLeastLines = 1000;  // seen by the poller
constexpr std::size_t kPolledCircuits = 3;

// A word of a message: its round, from 1 in each slot, and its place. Once the message is done its receiver marks it.
constexpr std::uint64_t kTaken = 1U << 31;
constexpr std::uint64_t word_of(std::uint64_t round, std::size_t place) {
  return round << 32 | place;
}

// Memory that one thread writes and another one polls.
struct alignas(kLineBytes) PolledSlot {
  std::array<std::uint64_t, kPolledWords> words{};

  std::uint64_t load(std::size_t place) const {
    return std::atomic_ref(const_cast<std::uint64_t&>(words[place])).load(std::memory_order_acquire);
  }
  // Marks the message as taken, as its application does once it is done. Returns whether all of it is here.
  bool take(std::uint64_t round) {
    bool whole = true;
    for (std::size_t place = 0; place < kPolledWords; ++place) {
      whole = whole && load(place) == word_of(round, place);
      std::atomic_ref(words[place]).store(word_of(round, place) | kTaken, std::memory_order_release);
    }
    return whole;
  }
  bool is_as_taken(std::uint64_t round) const {
    for (std::size_t place = 0; place < kPolledWords; ++place) {
      if (load(place) != (word_of(round, place) | kTaken)) return false;
    }
    return true;
  }
};

class LinePoller {
 public:
  explicit LinePoller(const std::vector<PolledSlot>& slots) : slots_(slots), seen_(slots.size() * kLines) {}
  ~LinePoller() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  LinePoller(const LinePoller&) = delete;
  LinePoller& operator=(const LinePoller&) = delete;

  std::uint64_t lines() const { return lines_.load(std::memory_order_relaxed); }
  std::uint64_t torn() const { return torn_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kLines = kPolledWords / kWordsOfLine;

  void poll() {
    while (!stop_.load(std::memory_order_relaxed)) {
      for (std::size_t line = 0; line < seen_.size(); ++line) look_at(line);
    }
  }
  void look_at(std::size_t line) {
    const PolledSlot& slot = slots_[line / kLines];
    const std::size_t first = line % kLines * kWordsOfLine;
    const std::uint64_t flag = slot.load(first + kWordsOfLine - 1) >> 32;
    if (flag == seen_[line]) return;
    seen_[line] = flag;
    lines_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t place = first; place + 1 < first + kWordsOfLine; ++place) {
      const std::uint64_t word = slot.load(place);
      const bool arrived = word >> 32 >= flag && (word & (kTaken - 1)) == place;
      if (!arrived) torn_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  const std::vector<PolledSlot>& slots_;
  std::vector<std::uint64_t> seen_;
  std::atomic<std::uint64_t> lines_ = 0;
  std::atomic<std::uint64_t> torn_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_{[this] { poll(); }};
};

struct PolledShape {
  const char* name;
  std::size_t relays;
  std::uint32_t bundle;  // 0: chunks go over one circuit at a time
};

class FlowUnderPoller : public testing::TestWithParam<PolledShape> {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  void turn() {
    while (sender_.live() < kPolledCircuits) join();
    while (sender_.can_post() && (sent_ < kPolledSlots || sender_.done(sent_ - kPolledSlots))) send();
    while (receiver_.can_post() && posted_ < done_ + kPolledSlots) receive();
    status_.Update(sender_.progress());
    for (Circuit& circuit : circuits_) circuit.hops->relay();
    if (random_() % 20 == 0) retire();
    status_.Update(receiver_.progress());
    for (; done_ < posted_ && receiver_.done(done_); ++done_) {
      EXPECT_TRUE(slots_[done_ % kPolledSlots].take(round_of(done_))) << "message " << done_;
    }
    std::erase_if(circuits_, [this](const Circuit& circuit) {
      return !sender_.is_live(circuit.name) && !receiver_.is_live(circuit.name);
    });
  }
  bool finished() const {
    return done_ >= kLeastMessages && sender_.circuits_ended() >= kLeastRetired && poller_.lines() >= kLeastLines;
  }

  struct Circuit {
    CircuitName name;
    std::unique_ptr<test::TcpCircuit> hops;
  };

  static std::uint64_t round_of(std::uint64_t message) { return message / kPolledSlots + 1; }

  void join() {
    const CircuitName name = sender_.reserve().value();
    auto hops = std::make_unique<test::TcpCircuit>(GetParam().relays, 0, 65536);
    ASSERT_TRUE(receiver_.join(name, hops->destination(), "node n1 port b").ok());
    receiver_.stripe(name, GetParam().bundle, CircuitShare::kBundle);
    ASSERT_TRUE(sender_.join(name, hops->source(), "node n0 port a", 8192).ok());
    sender_.stripe(name, GetParam().bundle, CircuitShare::kBundle);
    circuits_.push_back({name, std::move(hops)});
  }
  void send() {
    std::vector<std::uint64_t>& words = sending_[sent_ % kPolledSlots];
    words.resize(kPolledWords);
    for (std::size_t place = 0; place < kPolledWords; ++place) words[place] = word_of(round_of(sent_), place);
    const auto posted =
        sender_.post(SendBuffer{reinterpret_cast<const std::byte*>(words.data()), 0}, kPolledWords * sizeof words[0]);
    ASSERT_TRUE(posted.ok()) << posted.status();
    ++sent_;
  }
  void receive() {
    PolledSlot& slot = slots_[posted_ % kPolledSlots];
    if (posted_ >= kPolledSlots) {
      EXPECT_TRUE(slot.is_as_taken(round_of(posted_) - 1)) << "written after message " << posted_ - kPolledSlots;
    }
    const auto posted = receiver_.post(Landing{reinterpret_cast<std::byte*>(slot.words.data()), sizeof slot.words, 0});
    ASSERT_TRUE(posted.ok()) << posted.status();
    ++posted_;
  }
  void retire() {
    const Circuit& circuit = circuits_[random_() % circuits_.size()];
    if (!sender_.is_live(circuit.name) || !receiver_.is_live(circuit.name)) return;
    const absl::Status verdict = absl::UnavailableError("it was wrongly found to be dead");
    const std::size_t who = random_() % 3;
    if (who != 0) sender_.end_circuit(circuit.name, verdict);
    if (who != 1) receiver_.end_circuit(circuit.name, verdict);
  }

  const Striping striping_{.small_message = 8192, .chunk_bytes = 4096};
  std::mt19937 random_{5};
  FlowSender sender_{nullptr, striping_};
  FlowReceiver receiver_{striping_};
  std::deque<Circuit> circuits_;
  std::array<std::vector<std::uint64_t>, kPolledSlots> sending_;
  std::vector<PolledSlot> slots_ = std::vector<PolledSlot>(kPolledSlots);
  LinePoller poller_{slots_};
  std::uint64_t sent_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  absl::Status status_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, FlowUnderPoller,
                         testing::Values(PolledShape{"direct", 0, 0}, PolledShape{"direct_bundle", 0, 1},
                                         PolledShape{"bundle_over_relays", 1, 1}),
                         [](const testing::TestParamInfo<PolledShape>& shape) {
                           return std::string(shape.param.name);
                         });

TEST_P(FlowUnderPoller, ShowsEachLinesFlagLastWhileHealthyCircuitsAreRetired) {
  const bool done = test::run_until([&] { return finished() || !status_.ok() || HasFailure(); }, [&] { turn(); });
  ASSERT_TRUE(status_.ok()) << status_;
  ASSERT_TRUE(done) << done_ << " messages, " << sender_.circuits_ended() << " circuits, " << poller_.lines()
                    << " lines";
  for (int i = 0; i < 100; ++i) {
    status_.Update(receiver_.progress());
    for (Circuit& circuit : circuits_) circuit.hops->relay();
  }
  EXPECT_EQ(poller_.torn(), 0U) << "of " << poller_.lines() << " lines";
  EXPECT_GT(sender_.traffic().bytes_again(), 0U);
}

}  // namespace
}  // namespace cableway::host
