// The two applications of a simulation test's flow on one circuit: they do what NCCL's proxy does with a comm, with
// real flow ends (core/flow/flow_sender.h, core/flow/flow_receiver.h) and real bytes.
//
// Both overwrite a message's memory as soon as it is reported as done, which detects later accesses. The memory stays
// registered, as NCCL's does between circuits, so keys do not prevent a late write.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ENDS_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ENDS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/flow/flow_receiver.h"
#include "core/flow/flow_sender.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

enum class MessageState : std::uint8_t { kUntouched, kPosted, kDone, kFailed };

// The state of a message at both ends.
struct MessageRecord {
  MessageState sent = MessageState::kUntouched;
  MessageState received = MessageState::kUntouched;
  std::uint64_t hash = 0;  // of the sent contents
};

// The common part of both ends: when they poll their link, and how they end.
class FlowEnd : public LinkUser {
 public:
  struct Place {
    SimtestGround& ground;
    const FlowPlan& plan;
    std::vector<MessageRecord>& records;
    std::size_t flow = 0;
    std::size_t node = 0;
  };

  void wake() override;
  // The application is killed; its kernel closes the connection.
  void die();
  bool over() const { return over_; }
  // Why it ended; OK if every message was done.
  const absl::Status& reason() const { return reason_; }

 protected:
  // `first`: the first message of the circuit.
  FlowEnd(const Place& place, std::size_t first, const PlantEnd& end)
      : place_(place), link_(end.link), device_(end.device), next_(first), user_(end.user) {}

  // A message posted with the flow end, and its memory.
  struct Posted {
    std::size_t message = 0;
    std::uint64_t sequence = 0;
    std::vector<std::byte> memory;
    std::optional<StubMemory> registered;
  };

  virtual void poll() = 0;
  // Fails every message that is posted and not done.
  virtual void give_up() = 0;
  void finish(const absl::Status& reason);
  // Whether message `next_` may be posted now: after its wait, which starts with the first call.
  bool waited(Duration wait);
  // Returns a message's memory to the application, which overwrites it.
  void take_memory_back(Posted& posted);
  const MessagePlan& plan_of(std::size_t message) const { return place_.plan.messages[message]; }
  MessageRecord& record(std::size_t message) { return place_.records[message]; }
  std::string name(std::size_t message) const;
  void trace(std::uint64_t what, std::size_t message, std::uint64_t value);

  const Place place_;
  ChunkLink& link_;
  StubDevice* const device_;  // registers the memory of messages; null: not registered
  std::size_t next_;          // message to post
  std::deque<Posted> posted_;
  std::vector<Posted> used_;  // a faulty link may still access it

 private:
  void poll_until_idle();

  HopUser& user_;
  bool poll_scheduled_ = false;
  bool over_ = false;
  absl::Status reason_;
  std::optional<std::size_t> waits_for_;
  Instant wait_ends_;
};

class SourceEnd final : public FlowEnd {
 public:
  SourceEnd(const Place& place, std::size_t first, const PlantEnd& end, std::uint32_t chunk_bytes)
      : FlowEnd(place, first, end), sender_(end.link, chunk_bytes) {}

 private:
  void poll() override;
  void give_up() override;
  void collect();
  absl::Status post();

  FlowSender sender_;
};

class DestinationEnd final : public FlowEnd {
 public:
  DestinationEnd(const Place& place, std::size_t first, const PlantEnd& end)
      : FlowEnd(place, first, end), receiver_(end.link) {}

  // To be called at the end of the run: checks that nothing was written into memory after it was given back.
  void check_memory();

 private:
  void poll() override;
  void give_up() override;
  void collect();
  void check(const Posted& posted);
  absl::Status post();

  FlowReceiver receiver_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ENDS_H_
