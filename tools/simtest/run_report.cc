#include "tools/simtest/run_report.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ratio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::simtest {
namespace {

using nlohmann::json;

json to_object(const Failure& failure) {
  return json{{"run", failure.run},
              {"rule", failure.rule},
              {"at_ms", failure.at_ms},
              {"what", failure.what},
              {"replay", failure.replay}};
}

std::uint64_t total(const std::array<std::uint64_t, sim::kFaultKinds>& faults) {
  return std::accumulate(faults.begin(), faults.end(), std::uint64_t{0});
}

double in_ms(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// "913 faults: 40 cut, 31 silence.", and on a line of its own "120 cuts under verified load (812.4 MB compared with
// what was sent): 0 bytes lost, doubled or wrong." Empty: no fault, as in a search for deadlocks.
std::string faults_line(const Summary& summary) {
  if (total(summary.faults) == 0) return "";
  std::vector<std::string> kinds;
  for (std::size_t kind = 0; kind < summary.faults.size(); ++kind) {
    if (summary.faults[kind] == 0) continue;
    kinds.push_back(absl::StrCat(summary.faults[kind], " ", sim::to_text(static_cast<sim::FaultKind>(kind))));
  }
  const std::string damage = summary.failures.empty()
                                 ? "0 bytes lost, doubled or wrong"
                                 : absl::StrCat(summary.failures.size(), " runs failed, see above");
  return absl::StrFormat("%d faults: %s.\n%d cuts under verified load (%.1f MB compared with what was sent): %s.\n",
                         total(summary.faults), absl::StrJoin(kinds, ", "), summary.cuts,
                         static_cast<double>(summary.bytes) / 1e6, damage);
}

std::string pulses_line(const Summary& summary) {
  if (summary.pulses == 0) return "";
  const std::string use = total(summary.faults) > 0 || summary.least_use == 0
                              ? ""
                              : absl::StrFormat(" The least used port sent for %.1f %% of the time.",
                                                static_cast<double>(summary.least_use) / 10);
  return absl::StrFormat(
      "%d pulses, up to %.1f ms late: %d times a cable was found silent, %d times a node to stand still; %d silences "
      "ended their circuits in time.%s\n",
      summary.pulses, in_ms(summary.latest_pulse), summary.silent, summary.still, summary.silences_checked, use);
}

// How often the rules about lost carriers and about ports in use were checked.
std::string paths_line(const Summary& summary) {
  if (summary.stalls_checked + summary.ports_judged == 0) return "";
  const double all = static_cast<double>(std::max<std::uint64_t>(summary.bytes_on_judged, 1));
  return absl::StrFormat(
      "%d flows with another circuit lost one with its carrier: stalled for %.0f ms at most. %d ports judged that "
      "alternates share: %.2f %% of %.1f MB on ports in use was theirs.\n",
      summary.stalls_checked, in_ms(summary.longest_stall), summary.ports_judged,
      100 * static_cast<double>(summary.alternates_on_judged) / all, all / 1e6);
}

}  // namespace

std::string to_line(const SimtestReport& report) {
  const sim::SimtestResult& result = report.result;
  json line{{"seed", report.seed},
            {"trace", result.trace},
            {"ns", result.virtual_time.count()},
            {"events", result.events},
            {"datagrams", result.datagrams},
            {"chunks", result.chunks},
            {"messages", result.messages},
            {"done", result.done},
            {"failed", result.failed},
            {"circuits", result.circuits},
            {"rdma_hops", result.rdma_hops},
            {"bytes", result.bytes},
            {"faults", result.faults},
            {"cuts", result.cuts},
            {"pulses", result.pulses},
            {"silent", result.silent},
            {"still", result.still},
            {"silences_checked", result.silences_checked},
            {"stalls_checked", result.stalls_checked},
            {"longest_stall_ns", result.longest_stall.count()},
            {"ports_judged", result.ports_judged},
            {"bytes_on_judged", result.bytes_on_judged},
            {"alternates_on_judged", result.alternates_on_judged},
            {"least_use", result.least_use},
            {"latest_pulse_ns", result.latest_pulse.count()},
            {"failures", json::array()}};
  for (const Failure& failure : report.failures) line["failures"].push_back(to_object(failure));
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::StatusOr<SimtestReport> from_line(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return absl::InvalidArgumentError("not a report: " + line.substr(0, 80));
  SimtestReport report;
  sim::SimtestResult& result = report.result;
  const auto number = [&](const char* name) { return object.value(name, std::uint64_t{0}); };
  report.seed = number("seed");
  result.trace = number("trace");
  result.virtual_time = Duration(static_cast<Duration::rep>(number("ns")));
  result.events = number("events");
  result.datagrams = number("datagrams");
  result.chunks = number("chunks");
  result.messages = number("messages");
  result.done = number("done");
  result.failed = number("failed");
  result.circuits = number("circuits");
  result.rdma_hops = number("rdma_hops");
  result.bytes = number("bytes");
  result.faults = object.value("faults", result.faults);
  result.cuts = number("cuts");
  result.pulses = number("pulses");
  result.silent = number("silent");
  result.still = number("still");
  result.silences_checked = number("silences_checked");
  result.stalls_checked = number("stalls_checked");
  result.longest_stall = Duration(static_cast<Duration::rep>(number("longest_stall_ns")));
  result.ports_judged = number("ports_judged");
  result.bytes_on_judged = number("bytes_on_judged");
  result.alternates_on_judged = number("alternates_on_judged");
  result.least_use = number("least_use");
  result.latest_pulse = Duration(static_cast<Duration::rep>(number("latest_pulse_ns")));
  for (const json& failure : object.value("failures", json::array())) {
    report.failures.push_back(Failure{failure.value("run", ""), failure.value("rule", 0), failure.value("at_ms", 0.0),
                                      failure.value("what", ""), failure.value("replay", "")});
  }
  return report;
}

void Summary::add(const SimtestReport& report) {
  const sim::SimtestResult& result = report.result;
  ++runs;
  virtual_s += static_cast<double>(result.virtual_time.count()) / 1e9;
  events += result.events;
  datagrams += result.datagrams;
  chunks += result.chunks;
  messages += result.messages;
  done += result.done;
  failed += result.failed;
  circuits += result.circuits;
  rdma_hops += result.rdma_hops;
  bytes += result.bytes;
  for (std::size_t kind = 0; kind < faults.size(); ++kind) faults[kind] += result.faults[kind];
  cuts += result.cuts;
  pulses += result.pulses;
  silent += result.silent;
  still += result.still;
  silences_checked += result.silences_checked;
  stalls_checked += result.stalls_checked;
  longest_stall = std::max(longest_stall, result.longest_stall);
  ports_judged += result.ports_judged;
  bytes_on_judged += result.bytes_on_judged;
  alternates_on_judged += result.alternates_on_judged;
  least_use = std::min(least_use, result.least_use);
  latest_pulse = std::max(latest_pulse, result.latest_pulse);
  trace += sim::SimtestRandom::mix(result.trace + report.seed);
  failures.insert(failures.end(), report.failures.begin(), report.failures.end());
}

std::string to_text(const Failure& failure) {
  const std::string how = failure.rule == 0 ? std::string("FAILED")
                                            : absl::StrFormat("breaks rule %d at %.3f ms", failure.rule, failure.at_ms);
  return absl::StrCat(failure.run, " ", how, ": ", failure.what, "\n  ", failure.replay, "\n");
}

std::string to_text(const Summary& summary) {
  return absl::StrFormat(
             "%d runs in %.1f s: %d failed. %.0f s of virtual time, %d events, %d datagrams, %d chunks over cables, %d "
             "circuits with %d hops over RDMA, %d messages (%d done, %d failed with a reason). Trace %016x\n",
             summary.runs, summary.wall_s, summary.failures.size(), summary.virtual_s, summary.events,
             summary.datagrams, summary.chunks, summary.circuits, summary.rdma_hops, summary.messages, summary.done,
             summary.failed, summary.trace) +
         faults_line(summary) + pulses_line(summary) + paths_line(summary);
}

std::string to_json(const Summary& summary) {
  nlohmann::ordered_json by_kind{{"total", total(summary.faults)}};
  for (std::size_t kind = 0; kind < summary.faults.size(); ++kind) {
    by_kind[sim::to_text(static_cast<sim::FaultKind>(kind))] = summary.faults[kind];
  }
  nlohmann::ordered_json object{{routing::kSchemaMember, routing::kJsonSchema},
                                {"runs", summary.runs},
                                {"wall_s", summary.wall_s},
                                {"virtual_s", summary.virtual_s},
                                {"events", summary.events},
                                {"datagrams", summary.datagrams},
                                {"chunks", summary.chunks},
                                {"circuits", summary.circuits},
                                {"rdma_hops", summary.rdma_hops},
                                {"messages", summary.messages},
                                {"done", summary.done},
                                {"failed_messages", summary.failed},
                                {"verified_bytes", summary.bytes},
                                {"faults", by_kind},
                                {"cuts", summary.cuts},
                                {"pulses", summary.pulses},
                                {"silent_verdicts", summary.silent},
                                {"still_verdicts", summary.still},
                                {"silences_checked", summary.silences_checked},
                                {"stalls_checked", summary.stalls_checked},
                                {"longest_stall_ms", in_ms(summary.longest_stall)},
                                {"ports_judged", summary.ports_judged},
                                {"bytes_on_judged_ports", summary.bytes_on_judged},
                                {"alternates_on_judged_ports", summary.alternates_on_judged},
                                {"latest_pulse_ms", in_ms(summary.latest_pulse)},
                                {"trace", absl::StrFormat("%016x", summary.trace)},
                                {"failures", nlohmann::ordered_json::array()}};
  for (const Failure& failure : summary.failures)
    object["failures"].push_back(nlohmann::ordered_json(to_object(failure)));
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::simtest
