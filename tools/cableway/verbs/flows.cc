#include "tools/cableway/verbs/flows.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/verbs/node_view_verb.h"

namespace cableway::cli {
namespace {

double mean_mbps(const Json& circuit) {
  constexpr double kBitsPerByte = 8;
  constexpr double kMegabitsPerMillisecond = 1000;
  const double milliseconds = static_cast<double>(std::max<std::uint64_t>(number(circuit, "open_ms"), 1));
  return static_cast<double>(number(circuit, "bytes")) * kBitsPerByte / kMegabitsPerMillisecond / milliseconds;
}

// The number of open flows or circuits that are not in `listed`.
std::uint64_t left_out(std::uint64_t open, const Json& listed) {
  return open > listed.size() ? open - listed.size() : 0;
}

std::uint64_t flows_left_out(const Json& status) {
  return left_out(number(status.at("own"), "flows_open"), status.at("flows"));
}

std::uint64_t circuits_left_out(const Json& status) {
  return left_out(number(status.at("relayed"), "circuits_open"), status.at("circuits"));
}

std::string and_more(std::uint64_t left_out) {
  return left_out == 0 ? "" : absl::StrCat("and ", left_out, " more\n");
}

// "rdma rxe0: both ends have it"
std::string transport_text(const Json& hop) {
  return absl::StrCat(text(hop, "transport"), ": ", text(hop, "reason"));
}

// "2: 31.5 ms, 1.0 MiB again; 7 circuits lost"; reroutes only of a flow that is sent; "-" if there is neither.
std::string reroutes_text(const Json& flow) {
  std::vector<std::string> parts;
  if (!flow.at("reroutes").is_null() && number(flow, "reroutes") > 0) {
    parts.push_back(absl::StrFormat("%d: %.1f ms, %s again", number(flow, "reroutes"),
                                    flow.at("pause_ms").get<double>(), bytes_text(number(flow, "bytes_sent_again"))));
  }
  const Json& retired = flow.at("circuits_retired");
  // As in CIRCUIT_RETIRED: only a source can tell whether a closed circuit was lost, or only left.
  const std::uint64_t closed = flow.at("sends").get<bool>() ? number(retired, "closed") : 0;
  const std::uint64_t lost =
      number(retired, "failed") + number(retired, "corrupted") + number(retired, "stuck") + closed;
  if (lost > 0) parts.push_back(absl::StrCat(lost, lost == 1 ? " circuit lost" : " circuits lost"));
  return parts.empty() ? "-" : absl::StrJoin(parts, "; ");
}

// What a circuit has carried of all that its flow's circuits have.
std::string share_text(const Json& circuit, const Json& circuits) {
  constexpr double kPercent = 100;
  double all = 0;
  for (const Json& each : circuits) all += static_cast<double>(number(each, "bytes"));
  if (all == 0) return "";
  return absl::StrFormat(" (%.0f %%)", kPercent * static_cast<double>(number(circuit, "bytes")) / all);
}

// The circuit's part in the flow.
const char* part_text(const Json& circuit) {
  if (circuit.at("carries").get<bool>()) return "  now by";
  if (text(circuit, "share") == "alternate") return "  alternate";
  return text(circuit, "share") == "bundle" ? "  beside" : "  standby";
}

// "31.5 ms", "2.5 s"
std::string time_text(double milliseconds) {
  constexpr double kPerSecond = 1000;
  return milliseconds < kPerSecond ? absl::StrFormat("%.1f ms", milliseconds)
                                   : absl::StrFormat("%.1f s", milliseconds / kPerSecond);
}

// "stalled for 31.5 ms, kept away for 2.5 s"; "-" for neither, and where the flow is received.
std::string stalls_text(const Json& circuit) {
  std::vector<std::string> stalls;
  for (const auto& [member, words] :
       {std::pair("stalled_ms", "stalled for "), std::pair("kept_away_ms", "kept away for ")}) {
    const Json& milliseconds = circuit.at(member);
    if (milliseconds.is_null() || milliseconds.get<double>() == 0) continue;
    stalls.push_back(absl::StrCat(words, time_text(milliseconds.get<double>())));
  }
  return stalls.empty() ? "-" : absl::StrJoin(stalls, ", ");
}

void add_flow(TextTable& table, const Json& flow, const Look& look) {
  const Json& process = flow.at("process");
  const std::string path =
      flow.at("waits").is_null() ? text(flow, "path") : "waits for a path: " + look.prose(text(flow, "waits"));
  table.add_row({text(flow, "flow"), process.is_null() ? "-" : absl::StrCat(number(flow, "process")),
                 absl::StrCat(flow.at("sends").get<bool>() ? "to " : "from ", text(flow, "node")), path,
                 age_text(number(flow, "open_ms")), bytes_text(number(flow, "bytes")), mbps_or_dash(flow),
                 reroutes_text(flow), text_or_dash(flow, "port"), transport_text(flow)});
  const Json& circuits = flow.at("circuits");
  if (circuits.size() < 2) return;
  for (const Json& circuit : circuits) {
    table.add_row({"", "", part_text(circuit), text(circuit, "path"), age_text(number(circuit, "open_ms")),
                   bytes_text(number(circuit, "bytes")) + share_text(circuit, circuits), mbps_or_dash(circuit),
                   stalls_text(circuit), text_or_dash(circuit, "port"), transport_text(circuit)});
  }
}

std::string own_flows_text(const Json& status, const Look& look) {
  const Json& flows = status.at("flows");
  std::string head = absl::StrCat("flows of processes on node ", text(status, "node"), ": ",
                                  number(status.at("own"), "flows_open"), " open\n");
  if (flows.empty()) return head;
  using Align = TextTable::Align;
  using Fit = TextTable::Fit;
  TextTable table({{"flow", Align::kLeft, Fit::kCutMiddle},
                   {"process", Align::kRight},
                   {"peer"},
                   {"path", Align::kLeft, Fit::kWrap},
                   {"open for", Align::kRight},
                   {"payload", Align::kRight},
                   {"Mbit/s", Align::kRight},
                   {"reroutes, stalls", Align::kLeft, Fit::kWrap},
                   {"port"},
                   {"transport, and why", Align::kLeft, Fit::kWrap}});
  for (const Json& flow : flows) add_flow(table, flow, look);
  return absl::StrCat(head, "\n", table.text(), and_more(flows_left_out(status)));
}

std::string circuits_text(const Json& status, const Look& look) {
  const Json& circuits = status.at("circuits");
  std::string head = absl::StrCat("circuits through node ", text(status, "node"), ": ",
                                  number(status.at("relayed"), "circuits_open"), " open\n");
  if (circuits.empty()) return head;
  using Align = TextTable::Align;
  using Fit = TextTable::Fit;
  TextTable table({{"flow"},
                   {"path", Align::kLeft, Fit::kCutMiddle},
                   {"open for", Align::kRight},
                   {"chunks", Align::kRight},
                   {"payload", Align::kRight},
                   {"mean Mbit/s", Align::kRight},
                   {"in, and why", Align::kLeft, Fit::kWrap},
                   {"out, and why", Align::kLeft, Fit::kWrap}});
  for (const Json& circuit : circuits) {
    table.add_row({text(circuit, "flow"), look.prose(text(circuit, "path")), age_text(number(circuit, "open_ms")),
                   absl::StrCat(number(circuit, "chunks")), bytes_text(number(circuit, "bytes")),
                   absl::StrFormat("%.1f", mean_mbps(circuit)), transport_text(circuit.at("upstream")),
                   transport_text(circuit.at("downstream"))});
  }
  return absl::StrCat(head, "\n", table.text(), and_more(circuits_left_out(status)));
}

Json with_mean_rate(Json circuit) {
  circuit["mean_mbps"] = mean_mbps(circuit);
  return circuit;
}

// Throws Json::exception if it is not an array.
const Json::array_t& array_of(const Json& object, const char* name) {
  return object.at(name).get_ref<const Json::array_t&>();
}

}  // namespace

std::unique_ptr<Verb> flows_verb() {
  return node_view_verb(
      {.name = "flows",
       .summary =
           "the flows of this host's processes and the circuits through its node, with the transport of each hop and "
           "why.\n"
           "A flow's payload and rate are those of the last second, as its process reports them; reroutes: how often "
           "another\n"
           "path took over, for how long nothing moved, all together, and what was sent again, and how many circuits "
           "were lost,\n"
           "standbys included; stalls: for how long nothing landed over one of its circuits, or an alternate was kept "
           "away, as its\n"
           "way was in use or a relay had no time. A relayed circuit's rate is the mean since it was opened",
       .notes = all_nodes_notes(
           "a row for each flow between processes of all nodes, although both of its ends report it, and one for each "
           "node that relays."),
       .examples = {"cableway flows", "cableway flows --watch", "cableway flows --all",
                    "cableway flows --json | jq '.flows[] | select(.transport == \"tcp\")'"},
       .view = "status",
       .as_text = flows_text,
       .as_json = flows_json,
       .names_cables = true,
       .watchable = true,
       .of_all = ShownOfAll{"flows",
                            [](NodeDocuments& documents, const NodeDocuments* /*before*/, const Look& look) {
                              return all_flows_text(documents, look);
                            },
                            all_flows_json}});
}

absl::StatusOr<std::string> flows_text(const std::string& answer, const Look& look) {
  return render_answer(answer, "status", [&](const Json& status) {
    return absl::StrCat(own_flows_text(status, look), "\n", circuits_text(status, look));
  });
}

absl::StatusOr<std::string> flows_json(const std::string& answer) {
  return render_answer(answer, "status", [](const Json& status) {
    Json circuits = Json::array();
    for (const Json& circuit : array_of(status, "circuits")) circuits.push_back(with_mean_rate(circuit));
    const Json view = {{routing::kSchemaMember, routing::kJsonSchema},
                       {"node", text(status, "node")},
                       {"flows", array_of(status, "flows")},
                       {"flows_left_out", flows_left_out(status)},
                       {"circuits", circuits},
                       {"circuits_left_out", circuits_left_out(status)}};
    return view.dump(2) + "\n";
  });
}

}  // namespace cableway::cli
