// The result of a simulation, as shown by its views (text, JSON, HTML).
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_REPORT_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_REPORT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "routing/topology/short_cable_names.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"

namespace cableway::cli {

// The lower bound of the time that the cables need (sim/flow_model/cable_bound.h).
struct ReportBound {
  double seconds = 0;
  std::string method;
  double gap = 0;
};

// The whole job at flow level, with all cables and without the cut ones.
struct JobOnCablesLeft {
  double intact_s = 0;
  double without_s = 0;
  std::string impossible;  // not empty: why it cannot run without them
};

struct SimReport {
  routing::Topology topology;
  std::string source;    // of the topology: a spec, a file, or "node n0"
  std::string workload;  // as given, or the mix's file
  std::string level;     // "chunk" or "flow"
  std::string command;
  sim::PredictionRequest request;
  sim::Prediction prediction;
  std::optional<ReportBound> bound;
  std::string no_bound;  // why there is no bound
  std::optional<JobOnCablesLeft> left;
  double elapsed_s = 0;  // wall-clock time
};

// Bound over time, 1 at best; 0 without a bound or a time.
double ratio_of(const SimReport& report);

// The load of a cable's two directions.
struct CableBusyness {
  routing::CableIndex cable;
  double from_a = 0;  // utilisation
  double from_b = 0;
  std::uint64_t bytes_from_a = 0;
  std::uint64_t bytes_from_b = 0;
  double most() const { return from_a > from_b ? from_a : from_b; }
};

// All cables, sorted by their busier direction, the hottest first; stable.
std::vector<CableBusyness> hottest_first(const sim::Prediction& prediction);

// All shared wires, connectors and roots, sorted by their busier direction, the hottest first; stable.
std::vector<sim::SharedLoad> hottest_shared_first(const sim::Prediction& prediction);

// The busiest direction.
struct HottestPlace {
  const sim::SharedLoad* shared = nullptr;  // null: it is Prediction::hottest, a cable
  bool outward = true;                      // direction of `shared`
  double utilisation = 0;
};

// Among shared wires, connectors and roots; not set if there are none.
std::optional<HottestPlace> hottest_shared(const sim::Prediction& prediction);
// Among all; what cables share only if it was busier than every cable. Not set without cables.
std::optional<HottestPlace> hottest_place(const sim::Prediction& prediction);

// By place in Prediction::cables: the utilisation of a cable's direction, or of its wire's if that is more. Cables of a
// wire may fill it together although each of them has room.
std::vector<double> wire_utilisations(const SimReport& report);

// "n3 -> n4" of a wire; "out" or "in" of a connector or root.
std::string shared_direction_text(const routing::Topology& topology, const sim::SharedLoad& shared, bool outward);

// "c3=c4" of a wire, by the cables' short names, "n0 eth1", "n0 root r0"
std::string shared_name(const routing::ShortCableNames& names, const sim::SharedLoad& shared);

// "c3 n3 -> n4", "n0 eth1, out", "n0 root r0, in"
std::string place_text(const SimReport& report, const HottestPlace& place);

// "n3 -> n4"
std::string direction_text(const routing::Topology& topology, routing::CableIndex cable, bool from_a);

// "ring, 8 nodes, 8 cables"
std::string topology_summary(const routing::Topology& topology);

// "not known for 8 cables: 1 us assumed"; empty if it is known for all.
std::string assumed_latency_text(const routing::Topology& topology);

// The nodes of the ranks: "n0, n1, n2", cut after `most`.
std::string ranks_text(const routing::Topology& topology, const std::vector<routing::NodeIndex>& ranks,
                       std::size_t most);

// "off", "bundle" or "all": how many paths flows had at once.
std::string multipath_text(const SimReport& report);

// "16 flows", or "16 flows, 64 circuits" if they differ.
std::string flows_text(const SimReport& report);

// "rank 0 on n0 -> rank 2 on n2 through n1, channel 0: after 4.2 ms through n3", prefixed with the group of a mix;
// without the end if it sent nothing after the cut.
std::string hit_flow_text(const SimReport& report, const sim::CutEffect::HitFlow& hit);

// While flows that a cut hit had something to send, and sent nothing.
struct PauseSpan {
  Instant begin;
  Instant end;
  Duration longest{0};  // of one flow
};
// nullopt: none of them paused.
std::optional<PauseSpan> pause_span(const sim::CutEffect& effect);

// "4 flows crossed it, 3 went on over another path after at most 4.2 ms"
std::string hit_summary(const SimReport& report, const sim::CutEffect& effect);

// "c3 and c4", the cables of a cut wire.
std::string wire_text(const routing::Topology& topology, const std::vector<routing::CableIndex>& wire);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_REPORT_H_
