#include "tools/simtest/run_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

}  // namespace

std::string to_line(const SimtestReport& report) {
  const sim::SimtestResult& result = report.result;
  json line{{"seed", report.seed},         {"trace", result.trace},         {"ns", result.virtual_time.count()},
            {"events", result.events},     {"datagrams", result.datagrams}, {"chunks", result.chunks},
            {"messages", result.messages}, {"done", result.done},           {"failed", result.failed},
            {"circuits", result.circuits}, {"rdma_hops", result.rdma_hops}, {"failures", json::array()}};
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
      summary.runs, summary.wall_s, summary.failures.size(), summary.virtual_s, summary.events, summary.datagrams,
      summary.chunks, summary.circuits, summary.rdma_hops, summary.messages, summary.done, summary.failed,
      summary.trace);
}

std::string to_json(const Summary& summary) {
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
                                {"trace", absl::StrFormat("%016x", summary.trace)},
                                {"failures", nlohmann::ordered_json::array()}};
  for (const Failure& failure : summary.failures)
    object["failures"].push_back(nlohmann::ordered_json(to_object(failure)));
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace cableway::simtest
