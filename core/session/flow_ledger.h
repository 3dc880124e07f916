// The flows of this host's processes, as the processes report them to their node. A node does not see a flow's data,
// except as a relay. For display.
//
// At most kMaxListed flows are listed. If there are more, each process with open flows gets at most an equal share,
// and the other flows are only counted. When a session ends, its flows are dropped. One thread.
#ifndef CABLEWAY_CORE_SESSION_FLOW_LEDGER_H_
#define CABLEWAY_CORE_SESSION_FLOW_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/session/session_message.h"
#include "core/session/session_peer.h"

namespace cableway {

struct FlowStatus {
  std::int64_t process = 0;
  FlowOpened flow;    // open_ms as of now
  FlowCounts counts;  // as last reported
  // Measured over the last reported second; by circuit as in `counts`. nullopt: there are not two reports yet.
  std::optional<std::uint64_t> bytes_per_s;
  std::vector<std::optional<std::uint64_t>> circuit_bytes_per_s;
  std::string waits;  // why the flow has no circuit while its application waits; "": not known to be so
};

struct FlowsStatus {
  std::uint64_t open = 0;    // listed or not
  std::uint64_t opened = 0;  // since the node started
  std::uint64_t failed = 0;
  // Circuits that ended in flows that continued, by CircuitEndKind, and the bytes sent again for them; since the node
  // started.
  std::array<std::uint64_t, kCircuitEndKinds> retired{};
  std::uint64_t bytes_again = 0;
  std::vector<FlowStatus> listed;
};

class FlowLedger {
 public:
  static constexpr std::size_t kMaxListed = 4096;

  explicit FlowLedger(std::size_t max_listed = kMaxListed) : max_listed_(max_listed) {}

  // InvalidArgument: the session broke the protocol.
  absl::Status opened(const SessionPeer& peer, FlowOpened flow, Instant now);
  // Returns the flow, if it was listed.
  absl::StatusOr<std::optional<FlowOpened>> ended(const SessionPeer& peer, const FlowEnded& end);
  // Returns an open flow. nullopt: it is not listed. InvalidArgument: it is not open.
  absl::StatusOr<std::optional<FlowOpened>> find(const SessionPeer& peer, std::uint64_t number);
  // Returns the flow, if it is listed.
  absl::StatusOr<std::optional<FlowOpened>> waits(const SessionPeer& peer, const FlowWaits& report);
  absl::Status counted(const SessionPeer& peer, const FlowCounts& counts, Instant now);
  // A circuit of an open flow. Returns the flow, if it is listed.
  absl::StatusOr<std::optional<FlowOpened>> retired(const SessionPeer& peer, const CircuitRetired& report);
  // The session is over.
  void left(const SessionPeer& peer);

  FlowsStatus status(Instant now) const;
  // Without the list of flows.
  FlowsStatus counts() const { return {open_, opened_, failed_, retired_, bytes_again_, {}}; }

 private:
  struct Listed {
    FlowOpened flow;
    Instant since;  // when it was reported
    FlowCounts counts;
    std::optional<Instant> counted_at;
    std::optional<std::uint64_t> bytes_per_s;
    std::vector<std::optional<std::uint64_t>> circuit_bytes_per_s;
    std::string waits;
  };
  struct Session {
    std::uint64_t last_number = 0;
    std::map<std::uint64_t, Listed> listed;  // by number
    std::uint64_t unlisted = 0;
  };
  struct Process {
    std::map<std::uint64_t, Session> sessions;  // those with open flows
    std::size_t listed = 0;
  };

  // InvalidArgument: the session has no such flow. Null: the flow is not listed.
  absl::StatusOr<Listed*> listing(const SessionPeer& peer, std::uint64_t number);
  static void count(Listed& flow, const FlowCounts& counts, Instant now);
  static FlowStatus status_of(std::int64_t process, const Listed& listed, Instant now);
  // Unlists one flow of the process that has the most listed.
  void make_room();
  void forget_if_empty(const SessionPeer& peer);

  const std::size_t max_listed_;
  std::map<std::int64_t, Process> processes_;  // those with open flows, by key_of()
  std::size_t listed_ = 0;
  std::uint64_t open_ = 0;
  std::uint64_t opened_ = 0;
  std::uint64_t failed_ = 0;
  std::array<std::uint64_t, kCircuitEndKinds> retired_{};
  std::uint64_t bytes_again_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_FLOW_LEDGER_H_
