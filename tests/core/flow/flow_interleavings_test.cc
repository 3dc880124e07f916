// All interleavings of a small flow: two circuits, a third one that may join, up to two faults at any point. Every
// state that can be reached is visited once, by the product's own two ends: the search replays the events that lead to
// it.
//
//   sender ==== circuit 0 ==== receiver      two messages: two chunks of 128 bytes, and one of 0 bytes
//          ==== circuit 1 ====
//          .... circuit 2 ....
//
// The circuits are of one bundle, and chunks are shared among them, or of none. Events: a frame arrives, an end notices
// that a circuit is cut, a circuit is cut in one or both directions, an end retires a circuit that is healthy, the
// receiver prefers another primary, the third circuit joins at either end.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/flow_state.h"
#include "tests/core/flow/loose_hop.h"
#include "tests/core/flow/message_buffers.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

constexpr std::size_t kSmallCircuits = 3;
constexpr std::uint32_t kSmallChunk = 128;
constexpr std::size_t kSmallSizes[] = {2 * kSmallChunk, 0};
constexpr std::size_t kSmallMessages = std::size(kSmallSizes);

enum class What : std::uint8_t {
  kArrivesDown,
  kArrivesUp,
  kSourceNotices,
  kDestinationNotices,
  kJoinsDestination,
  kJoinsSource,
  // Faults.
  kCutDown,
  kCutUp,
  kCut,
  kSourceRetires,
  kDestinationRetires,
  kPrefer,
};

struct Scope {
  std::size_t faults;
  std::size_t max_depth;
  bool striped;
  bool announces_each = false;  // ChunkLink::needs_announcements()
};

struct Event {
  What what = What::kArrivesDown;
  std::uint8_t circuit = 0;
};

std::string to_text(const Event& event) {
  static constexpr const char* kNames[] = {
      "arrives down", "arrives up", "source notices", "destination notices", "joins there", "joins here", "cut down",
      "cut up",       "cut",        "source retires", "destination retires", "prefer"};
  return absl::StrCat(kNames[static_cast<std::size_t>(event.what)], " ", static_cast<int>(event.circuit));
}

class SmallFlow {
 public:
  // After these events.
  SmallFlow(const Scope& scope, const std::vector<Event>& past)
      : bundle_(scope.striped ? 1 : 0), faults_left_(scope.faults) {
    for (std::size_t i = 0; i < kSmallMessages; ++i) {
      sent_.emplace_back(i, kSmallSizes[i]);
      received_.emplace_back(kSmallSizes[i]);
    }
    for (Circuit& circuit : circuits_) circuit.hop.destination.announces_each = scope.announces_each;
    for (std::uint8_t i = 0; i < 2; ++i) {
      join_destination(i);
      join_source(i);
    }
    for (std::size_t i = 0; i < kSmallMessages; ++i) {
      EXPECT_TRUE(receiver_.post(received_[i].landing()).ok());
      EXPECT_TRUE(sender_.post(sent_[i].buffer(), kSmallSizes[i]).ok());
    }
    for (const Event& event : past) play(event);
  }

  // What may happen next. Faults are last.
  std::vector<Event> events() const {
    std::vector<Event> events;
    for (std::uint8_t i = 0; i < kSmallCircuits; ++i) add_events(i, events);
    if (faults_left_ == 0) return events;
    for (std::uint8_t i = 0; i < kSmallCircuits; ++i) {
      const Circuit& circuit = circuits_[i];
      if (!circuit.at_source || !circuit.at_destination) continue;
      if (!circuit.cut_down) events.push_back({What::kCutDown, i});
      if (!circuit.cut_up) events.push_back({What::kCutUp, i});
      if (!circuit.cut_down && !circuit.cut_up) events.push_back({What::kCut, i});
      if (sender_.is_live(circuit.name)) events.push_back({What::kSourceRetires, i});
      if (!receiver_.is_live(circuit.name)) continue;
      events.push_back({What::kDestinationRetires, i});
      if (receiver_.primary() != circuit.name.slot) events.push_back({What::kPrefer, i});
    }
    return events;
  }

  void play(const Event& event) {
    Circuit& circuit = circuits_[event.circuit];
    if (event.what >= What::kCutDown) --faults_left_;
    switch (event.what) {
      case What::kArrivesDown:
        if (circuit.hop.source.next_read().value_or(~0U) < sent_done_) wrong_ = "a message is read after it was done";
        circuit.hop.deliver_down();
        break;
      case What::kArrivesUp:
        circuit.hop.deliver_up();
        break;
      case What::kSourceNotices:
        circuit.hop.source.notice();
        break;
      case What::kDestinationNotices:
        circuit.hop.destination.notice();
        break;
      case What::kJoinsDestination:
        join_destination(event.circuit);
        break;
      case What::kJoinsSource:
        join_source(event.circuit);
        break;
      case What::kCutDown:
      case What::kCutUp:
      case What::kCut:
        circuit.cut_down = circuit.cut_down || event.what != What::kCutUp;
        circuit.cut_up = circuit.cut_up || event.what != What::kCutDown;
        break;
      case What::kSourceRetires:
        sender_.end_circuit(circuit.name, absl::UnavailableError("it is silent"));
        break;
      case What::kDestinationRetires:
        receiver_.end_circuit(circuit.name, absl::UnavailableError("it is silent"));
        break;
      case What::kPrefer:
        receiver_.prefer(circuit.name);
        break;
    }
    settle();
  }

  // Everything that may influence what follows.
  std::string state() const {
    std::string text = FlowState::of(sender_) + FlowState::of(receiver_);
    for (const Circuit& circuit : circuits_) {
      absl::StrAppend(&text, "|", circuit.at_source, circuit.at_destination, circuit.refused, circuit.cut_down,
                      circuit.cut_up, "/", circuit.name.slot, ".", circuit.name.generation);
      add_end(circuit.hop.source, text);
      add_end(circuit.hop.destination, text);
    }
    absl::StrAppend(&text, "|", sent_done_, ",", received_done_, ",", faults_left_);
    return text;
  }

  // What is wrong here; "" if nothing is.
  const std::string& wrong() const { return wrong_; }
  // Nothing can happen any more but faults.
  bool at_end() const {
    const std::vector<Event> next = events();
    return next.empty() || next.front().what >= What::kCutDown;
  }
  // Plays the first event that may happen until none can: then all messages must be done.
  void run_out() {
    faults_left_ = 0;
    for (std::vector<Event> next = events(); wrong_.empty() && !next.empty(); next = events()) play(next.front());
    if (!wrong_.empty()) return;
    if (received_done_ < kSmallMessages || sent_done_ < kSmallMessages) {
      wrong_ = absl::StrCat("stuck: ", received_done_, " messages received, ", sent_done_, " sent");
    }
  }

 private:
  struct Circuit {
    CircuitName name;
    test::LooseHop hop;
    bool reserved = false;
    bool at_destination = false;
    bool at_source = false;
    bool refused = false;
    bool cut_down = false;
    bool cut_up = false;
  };
  struct Carrier {
    Frame chunk;
    const Circuit* circuit = nullptr;
  };

  static void add_end(const test::LooseEnd& end, std::string& text) {
    absl::StrAppend(&text, ";", end.fenced(), static_cast<int>(end.noticed().code()), end.completed(), ",");
    for (const auto& each : end.out()) {
      absl::StrAppend(&text, static_cast<int>(each.end.code()), ".", static_cast<int>(each.frame.kind), ".",
                      each.frame.message, ".", each.frame.offset, ".", each.frame.size, each.memory == nullptr, " ");
    }
  }

  void add_events(std::uint8_t i, std::vector<Event>& events) const {
    const Circuit& circuit = circuits_[i];
    if (!circuit.at_destination) {
      // A further circuit is set up once one has ended.
      if (sender_.circuits_ended() > 0 && !circuit.refused) events.push_back({What::kJoinsDestination, i});
      return;
    }
    if (!circuit.at_source && !circuit.refused) events.push_back({What::kJoinsSource, i});
    const test::LooseEnd& source = circuit.hop.source;
    const test::LooseEnd& destination = circuit.hop.destination;
    if (!circuit.cut_down && !source.out().empty()) events.push_back({What::kArrivesDown, i});
    if (!circuit.cut_up && !destination.out().empty()) events.push_back({What::kArrivesUp, i});
    const bool cut = circuit.cut_down || circuit.cut_up;
    if (cut && circuit.at_source && !source.dead()) events.push_back({What::kSourceNotices, i});
    if (cut && !destination.dead()) events.push_back({What::kDestinationNotices, i});
  }

  void join_destination(std::uint8_t i) {
    Circuit& circuit = circuits_[i];
    const std::optional<CircuitName> name = sender_.reserve();
    if (!name.has_value()) {
      circuit.refused = true;
      return;
    }
    circuit.name = *name;
    circuit.refused = !receiver_.join(circuit.name, circuit.hop.destination, "").ok();
    if (!circuit.refused) receiver_.stripe(circuit.name, bundle_, CircuitShare::kBundle);
    circuit.at_destination = true;
    if (circuit.refused) sender_.release(circuit.name);
  }
  void join_source(std::uint8_t i) {
    Circuit& circuit = circuits_[i];
    circuit.at_source = true;
    if (!sender_.join(circuit.name, circuit.hop.source, "", kSmallChunk).ok()) return circuit.hop.source.fence();
    sender_.stripe(circuit.name, bundle_, CircuitShare::kBundle);
  }

  // Both applications poll, and take back what is done.
  void settle() {
    for (absl::Status status : {receiver_.progress(), sender_.progress(), sender_.progress()}) {
      if (!status.ok()) wrong_ = std::string(status.message());
    }
    while (received_done_ < kSmallMessages && receiver_.done(received_done_)) {
      test::ReceivedMessage& message = received_[received_done_];
      if (!message.holds(received_done_, kSmallSizes[received_done_])) wrong_ = "wrong bytes";
      message.reuse();
      ++received_done_;
    }
    while (sent_done_ < kSmallMessages && sender_.done(sent_done_)) sent_[sent_done_++].poison();
    if (sent_done_ > received_done_) wrong_ = "a send is done before its receive";
    for (std::size_t i = 0; i < received_done_; ++i) {
      if (!received_[i].still_reused()) wrong_ = "a receive was written after it was done";
    }
    for (Circuit& circuit : circuits_) {
      for (const Frame& chunk : circuit.hop.source.new_chunks()) check_carrier(circuit, chunk);
    }
  }
  void check_carrier(const Circuit& circuit, const Frame& chunk) {
    for (const Carrier& other : carriers_) {
      const bool same = other.chunk.message == chunk.message && other.chunk.offset == chunk.offset;
      if (same && other.circuit != &circuit && !other.circuit->hop.destination.fenced()) wrong_ = "two carriers";
    }
    carriers_.push_back({chunk, &circuit});
  }

  const std::uint32_t bundle_;
  FlowSender sender_{nullptr, {.small_message = 0}};
  FlowReceiver receiver_{{.small_message = 0}};
  Circuit circuits_[kSmallCircuits];
  std::deque<test::SentMessage> sent_;
  std::deque<test::ReceivedMessage> received_;
  std::size_t sent_done_ = 0;
  std::size_t received_done_ = 0;
  std::size_t faults_left_;
  std::vector<Carrier> carriers_;
  std::string wrong_;
};

// Breadth first. At the depth limit the rest of a run has one order, so that it is checked to its end as well.
class Search {
 public:
  explicit Search(const Scope& scope) : scope_(scope) {}

  void run() {
    std::vector<Path> frontier{{}};
    for (; !frontier.empty() && found_.empty(); ++depth_) {
      std::vector<Path> next;
      for (const Path& path : frontier) visit(path, next);
      frontier = std::move(next);
    }
  }
  std::size_t states() const { return seen_.size(); }
  std::size_t ends() const { return ends_; }
  std::size_t depth() const { return depth_; }
  // The events that lead to a state where something is wrong, and what it is; "" if there is none.
  const std::string& found() const { return found_; }

 private:
  using Path = std::vector<Event>;

  void visit(const Path& path, std::vector<Path>& next) {
    for (const Event& event : SmallFlow(scope_, path).events()) {
      if (!found_.empty()) return;
      Path longer = path;
      longer.push_back(event);
      SmallFlow flow(scope_, longer);
      if (flow.wrong().empty() && !seen_.insert(std::hash<std::string>()(flow.state())).second) continue;
      if (flow.at_end() || longer.size() == scope_.max_depth) {
        ++ends_;
        flow.run_out();
      } else if (flow.wrong().empty()) {
        next.push_back(longer);
      }
      if (!flow.wrong().empty()) describe(longer, flow.wrong());
    }
  }
  void describe(const Path& path, const std::string& wrong) {
    for (const Event& event : path) absl::StrAppend(&found_, to_text(event), "; ");
    found_ += wrong;
  }

  const Scope scope_;
  std::size_t depth_ = 0;
  std::unordered_set<std::size_t> seen_;
  std::size_t ends_ = 0;
  std::string found_;
};

// No search with at most one fault gets this deep, so it is complete.
constexpr std::size_t kAll = 100;

class FlowInterleavings : public testing::TestWithParam<Scope> {};

TEST_P(FlowInterleavings, DeliverAllWhateverEndsWhen) {
  const char* const deeper = std::getenv("CABLEWAY_TEST_DEPTH");
  Scope scope = GetParam();
  if (deeper != nullptr) scope.max_depth = std::strtoul(deeper, nullptr, 10);
  Search search(scope);
  search.run();
  EXPECT_EQ(search.found(), "");
  std::printf("%zu faults, %s: %zu states, %zu runs checked to their end, %zu events deep\n", scope.faults,
              scope.striped ? "striped" : "one circuit at a time", search.states(), search.ends(), search.depth());
  EXPECT_GT(search.ends(), 0U);
  if (scope.max_depth >= kAll) {
    EXPECT_LT(search.depth(), scope.max_depth) << "the search is complete";
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, FlowInterleavings,
                         testing::Values(Scope{0, kAll, false}, Scope{1, test::kSlowBuild ? 12U : kAll, false},
                                         Scope{2, test::kSlowBuild ? 5U : 8U, false}, Scope{0, kAll, true},
                                         Scope{0, kAll, true, true}, Scope{1, test::kSlowBuild ? 5U : 8U, true}),
                         [](const testing::TestParamInfo<Scope>& scope) {
                           return absl::StrCat(scope.param.faults, scope.param.striped ? "FaultsStriped" : "Faults",
                                               scope.param.announces_each ? "AnnouncedOnEach" : "");
                         });

}  // namespace
}  // namespace cableway
