// What the two applications of a simulation test's flow have in common (source_end.h, destination_end.h). They do what
// NCCL's proxy does with a comm, with real flow ends (core/flow/flow_sender.h, core/flow/flow_receiver.h), real
// circuits (core/flow_circuits) and real bytes.
//
// Both overwrite a message's memory as soon as it is reported as done, which detects later accesses. The memory stays
// registered with the devices of all circuits that the flow has had, so keys do not prevent a late write.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_END_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_END_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/open_hop.h"
#include "core/flow/circuit_owner.h"
#include "core/flow/flow_circuit.h"
#include "core/flow/striping.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/ports/port_lost.h"
#include "sim/simtest/flows/end_circuits.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

enum class MessageState : std::uint8_t { kUntouched, kPosted, kDone, kFailed };

// The state of a message at both ends.
struct MessageRecord {
  MessageState sent = MessageState::kUntouched;
  MessageState received = MessageState::kUntouched;
  std::uint64_t hash = 0;    // of the sent contents
  std::uint64_t landed = 0;  // bytes
};

// Messages are small here.
inline constexpr Striping kSimtestStriping{
    .small_message = 1024, .chunk_bytes = 4096, .window_bytes = 65536, .most_alternate_bytes = 32768};

// The common part of both ends: when they poll their circuits, and how they end.
class FlowEnd : public LinkUser {
 public:
  struct Place {
    SimtestGround& ground;
    const FlowPlan& plan;
    std::vector<MessageRecord>& records;
    const FlowIdentity& identity;
    std::size_t flow = 0;
    std::size_t node = 0;
  };

  void wake() override;
  // The application is killed; its kernel closes the connections.
  void die();
  // Wrongly finds that a circuit has ended.
  void misjudge();
  // Its node reports that a port, or one cable of it, is lost.
  virtual void lose_port(const PortLost& lost);
  // Whether a live circuit leaves its node, or arrives at it, over the cable.
  bool is_live_over(const PortLost& cable) const { return !over_ && circuits_.is_live_over(cable); }
  // EndCircuits::live_path_over().
  const std::vector<Hop>* live_path_over(const std::string& cable) const {
    return over_ ? nullptr : circuits_.live_path_over(cable);
  }
  // EndCircuits::live_paths(); none once it is over.
  std::vector<std::pair<CircuitName, const std::vector<Hop>*>> live_paths() const {
    return over_ ? std::vector<std::pair<CircuitName, const std::vector<Hop>*>>() : circuits_.live_paths();
  }
  bool over() const { return over_; }
  // Why it ended; OK if every message was done.
  const absl::Status& reason() const { return reason_; }
  std::size_t joined() const { return joined_; }

 protected:
  // `first`: the first message of the flow. `owner`, a member of the derived class, is not used before the first call.
  FlowEnd(const Place& place, std::size_t first, CircuitOwner& owner, bool lands);

  // A message posted with the flow end, and its memory.
  struct Posted {
    std::size_t message = 0;
    std::uint64_t sequence = 0;
    std::vector<std::byte> memory;
    CircuitKeys keys{};
    std::vector<std::pair<StubDevice*, StubMemory>> registered;
  };

  virtual void poll() = 0;
  virtual std::uint32_t key_of(Posted& posted, StubDevice& device) = 0;
  // A chunk is given to a circuit.
  virtual void gives(const CircuitName& circuit, const Frame& chunk) = 0;
  // A chunk has landed, or a frame was taken.
  virtual void takes(const CircuitName& circuit, const Frame& frame) = 0;
  // Circuits that were alive have ended.
  virtual void circuits_ended(const std::vector<CircuitName>& circuits, const absl::Status& reason) = 0;
  virtual void stop_circuits() = 0;
  virtual void messages_failed(const Posted& posted) = 0;

  absl::Status join_circuit(const CircuitSetup& setup, OpenHop hop);
  void finish(const absl::Status& reason);
  std::optional<CircuitName> best_circuit() const { return circuits_.best(clock().now()); }
  void end_circuits(const absl::Status& reason) { circuits_.end_all(reason); }
  const EndCircuits& circuits() const { return circuits_; }
  // Polls later, from outside of any call of a flow end.
  void wake_soon();
  // Whether message `next_` may be posted now: after its wait, which starts with the first call.
  bool waited(Duration wait);
  // Gives the message this many bytes of memory, with keys for all circuits.
  Posted& add_posted(std::uint64_t bytes);
  // Returns the message's registration with that device; calls `make` if there is none yet.
  template <typename Make>
  static const StubMemory& registration(Posted& posted, StubDevice& device, const Make& make) {
    for (const auto& [where, registered] : posted.registered) {
      if (where == &device) return registered;
    }
    return posted.registered.emplace_back(&device, make()).second;
  }
  // Correct ends never cause these errors.
  static bool breaks_protocol(const absl::Status& status) {
    return absl::IsInvalidArgument(status) || absl::IsInternal(status);
  }
  // Returns a message's memory to the application, which overwrites it, and frees it after plan.kept_messages others.
  void take_memory_back(Posted& posted);
  // Called before the memory is freed.
  virtual void forget(const Posted& /*used*/) {}
  bool all_done() const { return next_ == place_.plan.messages.size() && posted_.empty(); }
  Clock& clock() const { return place_.ground.clock(); }
  const MessagePlan& plan_of(std::size_t message) const { return place_.plan.messages[message]; }
  MessageRecord& record(std::size_t message) { return place_.records[message]; }
  std::string name(std::size_t message) const;
  void trace(std::uint64_t what, std::size_t message, std::uint64_t value);
  void trace(const absl::Status& reason);
  // Whether memory that was taken back is still as the application has left it.
  static bool untouched(const Posted& used);
  // Whether nothing was written behind the first `bytes` of a message's memory.
  static bool guarded(const Posted& posted, std::uint64_t bytes);

  const Place place_;
  std::size_t next_;  // message to post
  std::deque<Posted> posted_;
  std::deque<Posted> used_;  // a faulty link may still access it

 private:
  void poll_until_idle();
  void note_ended();
  void report_ended();
  void report_failed();
  void set_key(Posted& posted, std::size_t slot, StubDevice* device);

  CircuitOwner& owner_;
  const bool lands_;
  EndCircuits circuits_;
  std::size_t joined_ = 0;
  std::uint64_t ended_seen_ = 0;
  std::array<CircuitName, kMaxFlowCircuits> last_seen_{};  // by slot, the circuit that ended last
  bool poll_scheduled_ = false;
  bool over_ = false;
  absl::Status reason_;
  std::optional<std::size_t> waits_for_;
  Instant wait_ends_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_END_H_
