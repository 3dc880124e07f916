// Flows, striped over bundles or not, whose circuits are cut, retired although they are healthy, and replaced, in an
// order of events that a seed chooses. No byte may be lost, seen twice or written late, and no range may have two
// carriers.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "tests/core/flow/flow_script.h"
#include "tests/core/flow/loose_hop.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

constexpr std::uint32_t kFaultySeeds = test::cases_here(5000U);
constexpr std::size_t kMaxLive = 5;

class FaultyFlow {
 public:
  explicit FaultyFlow(std::uint32_t seed)
      : random_(seed),
        striping_{.small_message = random_() % 256, .chunk_bytes = 128U << random_() % 3},
        sender_(nullptr, striping_),
        receiver_(striping_),
        bundles_(random_() % 3),
        messages_(1 + random_() % 40),
        script_(sender_, receiver_, test::random_sizes(random_, messages_, 512), seed),
        faults_left_(random_() % 30),
        fault_every_(4 + random_() % 200) {}

  void step() {
    switch (random_() % 8) {
      case 0:
        script_.post_send();
        break;
      case 1:
        if (random_() % 4 == 0) script_.post_receive();
        break;
      case 2:
        status_.Update(sender_.progress());
        break;
      case 3:
        status_.Update(receiver_.progress());
        break;
      case 4:
        set_up();
        break;
      default:
        move();
    }
    if (faults_left_ > 0 && random_() % fault_every_ == 0) {
      --faults_left_;
      fault();
    }
    script_.notice_done();
    script_.check_order();
    check_carriers();
  }

  bool failed() const { return !status_.ok() || testing::Test::HasFailure(); }

  // Messages of which chunks went over several circuits.
  std::size_t striped() const {
    const auto has_several = [](const auto& message) {
      const auto& chunks = message.second;
      return std::any_of(chunks.begin(), chunks.end(),
                         [&](const Carrier& chunk) { return chunk.circuit != chunks.front().circuit; });
    };
    return static_cast<std::size_t>(std::count_if(carriers_.begin(), carriers_.end(), has_several));
  }

  std::mt19937 random_;
  const Striping striping_;
  PortStampPage stamps_{};
  FlowSender sender_;
  FlowReceiver receiver_;
  const std::uint32_t bundles_;  // of its circuits; 0: none is striped
  const std::size_t messages_;
  test::FlowScript script_;
  absl::Status status_;
  std::size_t faults_left_;
  const std::size_t fault_every_;

 private:
  struct Circuit {
    CircuitName name;
    std::uint32_t bundle = 0;
    CircuitShare share = CircuitShare::kBundle;
    std::uint32_t chunk_bytes = 0;
    test::LooseHop hop;
    bool at_destination = false;  // it has joined there
    bool at_source = false;
    bool refused = false;
    bool silent_down = false;  // frames are lost from now on
    bool silent_up = false;
    bool source_notices = true;  // what is lost; at least one end does
    bool destination_notices = true;
  };
  struct Carrier {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Circuit* circuit = nullptr;
  };

  Circuit* any_circuit() {
    if (circuits_.empty()) return nullptr;
    auto at = circuits_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_() % circuits_.size()));
    return &*at;
  }

  // The destination's answer to a set-up may arrive before its process has adopted the circuit, or never.
  void set_up() {
    if (setting_up_ == nullptr) return begin_set_up();
    Circuit& circuit = *setting_up_;
    const bool at_source = !circuit.at_source && random_() % 2 == 0;
    if (at_source) {
      if (random_() % 16 == 0) return lose_answer();
      if (!sender_.join(circuit.name, circuit.hop.source, "", circuit.chunk_bytes).ok()) return refuse_here();
      circuit.at_source = true;
      sender_.leaves_by(circuit.name, EgressPort(stamps_, "eth0"));  // never in use: there is no time here
      sender_.stripe(circuit.name, circuit.bundle, circuit.share);
    } else if (!circuit.at_destination) {
      circuit.at_destination = true;
      if (!receiver_.join(circuit.name, circuit.hop.destination, "").ok()) return refuse();
      receiver_.stripe(circuit.name, circuit.bundle, circuit.share);
    }
    if (circuit.at_source && circuit.at_destination) setting_up_ = nullptr;
  }
  void begin_set_up() {
    if (sender_.live() >= kMaxLive || (sender_.live() > 0 && random_() % 8 != 0)) return;
    const std::optional<CircuitName> name = sender_.reserve();
    if (!name.has_value()) return;
    setting_up_ = &circuits_.emplace_back();
    setting_up_->name = *name;
    setting_up_->bundle = bundles_ == 0 ? 0 : random_() % (bundles_ + 1);
    if (setting_up_->bundle != 0 && random_() % 2 == 0) setting_up_->share = CircuitShare::kAlternate;
    setting_up_->hop.destination.announces_each = random_() % 2 == 0;
    setting_up_->chunk_bytes = 128U << random_() % 4;
    const std::size_t who_notices = random_() % 3;
    setting_up_->source_notices = who_notices != 0;
    setting_up_->destination_notices = who_notices != 1;
    // Room for everything that is unfinished, but sometimes not for repetitions.
    if (random_() % 2 == 0) setting_up_->hop.source.max_controls = 1 + random_() % 4;
    if (random_() % 2 == 0) setting_up_->hop.destination.max_controls = 3 * kMaxLandings + random_() % 8;
  }
  void lose_answer() {
    sender_.release(setting_up_->name);
    // If the destination has adopted the circuit, it may or may not notice that the source has left.
    if (random_() % 2 == 0) setting_up_->hop.destination.notice();
    setting_up_->refused = true;
    setting_up_ = nullptr;
  }
  void refuse_here() {
    setting_up_->hop.source.fence();
    setting_up_->at_destination = true;  // it is not adopted any more
    setting_up_ = nullptr;
  }
  void refuse() {
    if (!setting_up_->at_source) sender_.release(setting_up_->name);
    setting_up_->hop.destination.fence();
    setting_up_ = nullptr;
  }

  void move() {
    Circuit* const circuit = any_circuit();
    if (circuit == nullptr || circuit->refused) return;
    const bool down = random_() % 2 == 0;
    if (down ? circuit->silent_down : circuit->silent_up) {
      (down ? circuit->hop.source : circuit->hop.destination).lose_all();
      if (circuit->source_notices && random_() % 16 == 0) circuit->hop.source.notice();
      if (circuit->destination_notices && random_() % 16 == 0) circuit->hop.destination.notice();
      return;
    }
    if (down && circuit->hop.source.next_read().value_or(~0U) < script_.sends_done()) {
      ADD_FAILURE() << "message " << *circuit->hop.source.next_read() << " is read after it was done";
    }
    down ? circuit->hop.deliver_down() : circuit->hop.deliver_up();
  }

  void fault() {
    Circuit* const circuit = any_circuit();
    if (circuit == nullptr) return;
    const absl::Status verdict = absl::UnavailableError("it is silent");
    switch (random_() % 7) {
      case 0:
        circuit->silent_down = true;
        break;
      case 1:
        circuit->silent_up = true;
        break;
      case 2:
        circuit->silent_down = circuit->silent_up = true;
        break;
      case 3:
        if (circuit->at_source) sender_.end_circuit(circuit->name, verdict);
        break;
      case 4:
        if (!circuit->at_destination) break;
        receiver_.end_circuit(circuit->name, verdict);
        // The last frame may be lost; the source then learns of the end over other circuits only.
        if (random_() % 2 == 0) circuit->silent_up = true, circuit->source_notices = false;
        break;
      case 5:
        // Sent by a relay on the circuit's path.
        if (circuit->share == CircuitShare::kAlternate) {
          circuit->hop.destination.send_control(gate_frame(random_() % 2 == 0)).IgnoreError();
        }
        break;
      default:
        if (circuit->at_destination) receiver_.prefer(circuit->name);
    }
  }

  // A range is given to one circuit, and to another one only after the destination has fenced the first.
  void check_carriers() {
    for (Circuit& circuit : circuits_) {
      EXPECT_FALSE(circuit.hop.source.misused()) << "a chunk was sent over a fenced circuit";
      for (const Frame& chunk : circuit.hop.source.new_chunks()) check_carrier(circuit, chunk);
    }
  }
  void check_carrier(const Circuit& circuit, const Frame& chunk) {
    const std::uint64_t end = chunk.offset + chunk.payload;
    for (const Carrier& other : carriers_[chunk.message]) {
      if (other.circuit == &circuit || other.circuit->hop.destination.fenced()) continue;
      EXPECT_FALSE(other.begin < end && chunk.offset < other.end)
          << "message " << chunk.message << ", bytes " << chunk.offset << " to " << end << ": two carriers";
    }
    carriers_[chunk.message].push_back({chunk.offset, end, &circuit});
  }

  std::list<Circuit> circuits_;
  Circuit* setting_up_ = nullptr;
  std::map<std::uint64_t, std::vector<Carrier>> carriers_;
};

TEST(FlowFailover, LosesAndDoublesNothingWhateverEndsWhen) {
  std::uint64_t ended = 0;
  std::uint64_t again = 0;
  std::uint64_t striped = 0;
  for (std::uint32_t seed = 0; seed < kFaultySeeds; ++seed) {
    SCOPED_TRACE(seed);
    FaultyFlow world(seed);
    for (std::size_t steps = 0; !world.script_.finished() && !world.failed() && steps < 2'000'000; ++steps)
      world.step();
    ASSERT_TRUE(world.status_.ok()) << world.status_;
    ASSERT_TRUE(world.script_.finished())
        << "stuck after " << world.script_.receives_done() << " of " << world.messages_ << " messages";
    for (int i = 0; i < 500; ++i) world.step();
    EXPECT_TRUE(world.script_.no_late_writes());
    if (HasFailure()) return;
    ended += world.sender_.circuits_ended();
    again += world.sender_.traffic().bytes_again();
    if (world.bundles_ > 0) striped += world.striped();
  }
  RecordProperty("circuits_ended", std::to_string(ended));
  RecordProperty("bytes_sent_again", std::to_string(again));
  EXPECT_GT(ended, kFaultySeeds);
  EXPECT_GT(again, 500U * kFaultySeeds);
  EXPECT_GT(striped, 2U * kFaultySeeds);
}

}  // namespace
}  // namespace cableway
