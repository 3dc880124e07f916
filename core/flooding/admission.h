// Which origins the link-state database holds when there are too many.
//
// While all fit, everybody is admitted at once, and this does nothing. When the database is full (kMaxWeight) it is
// crowded: newcomers wait (waiting_room.h) and are not flooded on until a paced pass finds that they hang on a node
// that the database holds, and that what they hang on has its fair share (routing/link_state/fair_shares.h). The pass
// drops others for them: first what is not anchored, then what is beyond its share. An origin that is held is always
// updated. One thread: the node's.
#ifndef CABLEWAY_CORE_FLOODING_ADMISSION_H_
#define CABLEWAY_CORE_FLOODING_ADMISSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/flooding/waiting_room.h"
#include "core/paced_work.h"
#include "routing/link_state/fair_shares.h"
#include "routing/link_state/link_state_database.h"

namespace cableway {

// Why a database is crowded.
struct Crowd {
  std::uint64_t left_out = 0;  // advertisements that were dropped, or never admitted
  // The nodes from this one to that behind which most of them hang; empty: most hang on no node that is known.
  std::vector<std::string> chain;
  PortId port = 0;  // over which most came; 0: not known
  Instant since;    // something is left out
};

class Admission {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The origin, which had waited, is in the database now.
    virtual void admitted(routing::NodeId origin) = 0;
    virtual void origins_dropped(const std::vector<routing::NodeId>& origins) = 0;
    // Advertisements are left out; called again when the end of the chain changes, at most every kReportEvery.
    virtual void crowded(const Crowd& crowd) = 0;
  };

  static constexpr std::chrono::seconds kReportEvery{10};
  // How long a database counts as crowded after the bound was last met.
  static constexpr std::chrono::seconds kCalm{10};
  // How long an origin that hangs on nothing is held in a crowded database: the rest of its chain may follow.
  static constexpr routing::Milliseconds kLooseFor{2000};

  // All references must outlive this. `self`: this node, whose advertisement is never dropped.
  Admission(Clock& clock, routing::LinkStateDatabase& database, routing::NodeId self, Listener& listener);

  // Whether an advertisement whose origin the database does not hold must wait().
  bool must_wait(const routing::Advertisement& newcomer) const;
  void wait(routing::Advertisement newcomer, routing::Milliseconds age, PortId port);
  // A held origin has a new version: it may weigh more, and others may hang on it.
  void note_update();

  // Empty: nothing is left out.
  const std::optional<Crowd>& crowd() const { return crowd_; }

 private:
  struct Decision;

  routing::Milliseconds now_ms() const;
  void pass_soon(Duration delay);
  void pass();
  void run_pass();
  Decision decide(routing::Milliseconds now);
  void hold_loose(const std::vector<const routing::Advertisement*>& held, const routing::FairShares& shares,
                  routing::Milliseconds now, Decision& decision);
  void carry_out(const Decision& decision);
  void report(const Decision& decision);
  PortId busiest_port() const;
  void note_calm(const Decision& decision);

  Clock& clock_;
  routing::LinkStateDatabase& database_;
  routing::NodeId self_;
  Listener& listener_;
  WaitingRoom room_;
  bool crowded_ = false;
  std::map<routing::NodeId, routing::Milliseconds> loose_since_;  // held, not anchored
  std::uint64_t dropped_ = 0;                                     // since the database is crowded
  std::optional<Crowd> crowd_;
  std::optional<Instant> reported_at_;
  std::string reported_;  // the end of the chain
  Instant met_;           // the bound
  std::uint64_t left_out_ = 0;
  PacedWork pace_;
  Instant pass_at_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOODING_ADMISSION_H_
