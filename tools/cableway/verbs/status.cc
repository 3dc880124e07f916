#include "tools/cableway/verbs/status.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/local_time.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/verbs/events.h"
#include "tools/cableway/verbs/node_view_verb.h"

namespace cableway::cli {
namespace {

// Empty if all circuits of the node use TCP.
std::string registered_text(const Json& memory) {
  if (number(memory, "registered_bytes") == 0) return "";
  return absl::StrCat("  RDMA        ", bytes_text(number(memory, "registered_bytes")), " registered, ",
                      bytes_text(number(memory, "floor_bytes")), " of it as floors; leases: ", number(memory, "leased"),
                      " of ", number(memory, "leases"), " out (", bytes_text(number(memory, "leased_bytes")),
                      "), at most ", number(memory, "leased_max"), " at once, waited for ", number(memory, "waits"),
                      " times\n");
}

// The first seals. Empty where the cluster has no key.
std::string keys_text(const Json& keys) {
  std::vector<std::string> each;
  for (const Json& key : keys) {
    each.push_back(
        absl::StrCat(text(key, "fingerprint"), key.at("seals").get<bool>() ? " seals" : " is accepted, too"));
  }
  return each.empty() ? "" : absl::StrCat("  keys        ", absl::StrJoin(each, "; "), "\n");
}

std::string version_text(const Json& status) {
  return absl::StrCat("  version     ", text_or_dash(status, "version"), ", up for ",
                      age_text(number(status, "uptime_ms")), ", since ", local_time_text(text(status, "started")),
                      "\n");
}

// As tables call them, where the topology has them.
std::string cables_text(const Json& cables, const Look& look) {
  std::vector<std::string> names;
  for (const Json& cable : cables) names.push_back(look.cable(cable.get<std::string>()));
  return absl::StrJoin(names, ", ");
}

std::string facts_text(const Json& status, const Look& look) {
  const Json& relayed = status.at("relayed");
  const Json& own = status.at("own");
  const Json& memory = status.at("relay_memory");
  const auto addresses = status.at("addresses").get<std::vector<std::string>>();
  const bool draining = status.at("draining").get<bool>();
  const std::string draining_cables = cables_text(status.at("draining_cables"), look);
  return absl::StrCat(
      "node ", text(status, "node"), " of cluster ", text(status, "cluster"),
      draining ? look.paint(Paint::Tone::kWarning, ", draining: no path leads through it") : "", "\n",
      version_text(status), draining_cables.empty() ? "" : absl::StrCat("  draining    ", draining_cables, "\n"),
      "  topology    ", number(status, "nodes"), " nodes, itself included; ", number(status, "cables_up"),
      " cables of this node up\n", "  addresses   ",
      addresses.empty() ? "none: see cableway ports" : absl::StrJoin(addresses, ", "), "\n", "  relay port  ",
      number(status, "relay_port"), "\n", keys_text(status.at("keys")), "  sessions    ", number(status, "sessions"),
      ", this command's included\n", "  flows       ", number(own, "flows_open"), " of processes here open, ",
      number(own, "flows_opened"), " opened, ", number(own, "flows_failed"), " failed\n", "  relayed     ",
      bytes_text(number(relayed, "bytes")), " in ", number(relayed, "chunks"), " chunks\n", "  circuits    ",
      number(relayed, "circuits_open"), " open, ", number(relayed, "circuits_opened"), " opened, ",
      number(relayed, "circuits_broken"), " broken, ", number(relayed, "setups_refused"), " set-ups refused\n",
      "  memory      ", bytes_text(number(memory, "floor_bytes")), " in floors, ",
      bytes_text(number(memory, "leased_bytes")), " in leases, of ", bytes_text(number(memory, "bytes")), "; room for ",
      number(memory, "circuits_max"), " circuits\n", "  leases      ", number(memory, "leased"), " of ",
      number(memory, "leases"), " out, at most ", number(memory, "leased_max"), " at once, waited for ",
      number(memory, "waits"), " times\n", registered_text(status.at("rdma_memory")));
}

// The lines of facts in lines that fit: each begins with a label, or is the first one.
std::string fitting(const std::string& facts, const Look& look) {
  constexpr std::size_t kLabelWidth = 14;
  std::string lines;
  for (const absl::string_view each : absl::StrSplit(facts, '\n', absl::SkipEmpty())) {
    const std::string line(each);
    const std::size_t label = line.front() == ' ' ? kLabelWidth : 0;
    lines += look.lines(line.substr(0, label), line.substr(label));
  }
  return lines;
}

// " (since 2026-03-01 12:34:56.789, for 1 min 01 s)"
std::string since_text(const Json& problem) {
  const std::string age = problem_age(problem);
  return age.empty() ? "" : absl::StrCat(" (since ", local_time_text(text(problem, "since")), ", ", age, ")");
}

std::string problems_text(const Json& problems, const Look& look) {
  std::string lines;
  for (const Json& problem : problems) {
    const std::string lead = absl::StrCat("  ", look.paint(Paint::Tone::kError, "problem"), "     ");
    absl::StrAppend(&lines, look.lines(lead, absl::StrCat(text(problem, "text"), since_text(problem), " [",
                                                          text(problem, "code"), "]")));
  }
  return lines;
}

std::string neighbours_text(const Json& status, const Look& look) {
  const Json& neighbours = status.at("neighbours");
  if (neighbours.empty()) return "\nno neighbour is heard: see cableway ports\n";
  using Align = TextTable::Align;
  TextTable table({{"neighbour"},
                   {"cable", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"port"},
                   {"its port"},
                   {"rate", Align::kRight},
                   {"us", Align::kRight},
                   {"state"},
                   {"known for", Align::kRight}});
  for (const Json& each : neighbours) {
    const Json& latency = each.at("latency_us");
    const bool drains = each.at("draining").get<bool>();
    table.add_row({text(each, "node"), look.cable(text(each, "cable")), text(each, "interface"),
                   text(each, "neighbour_interface"), rate_or_dash(each, "rate_mbps"),
                   latency_cell(latency.is_null() ? std::nullopt : std::optional(latency.get<double>())),
                   look.paint.state(absl::StrCat(text(each, "state"), drains ? ", drains" : "")),
                   age_text(number(each, "known_ms"))});
  }
  return absl::StrCat("\n", table.text());
}

std::string latest_events_text(const Json& status, const Look& look) {
  const Json& events = status.at("latest_events");
  if (events.empty()) return "";
  return absl::StrCat("\n", events_table(events, "latest warnings and errors", look));
}

}  // namespace

std::unique_ptr<Verb> status_verb() {
  return node_view_verb(
      {.name = "status",
       .summary = "the node's version, addresses, problems, neighbours, sessions, flows and relaying",
       .notes = all_nodes_notes(
           "a row for each node, with what its ports have carried, then the problems of each; with --watch its rates "
           "since the last time, as the kernel and RDMA adapters count them."),
       .examples = {"cableway status", "cableway status --all", "cableway status --all --watch",
                    "cableway status --json | jq .relayed.bytes"},
       .view = "status",
       .as_text = status_text,
       .as_json = [](const std::string& answer) { return answer_as_json(answer, "status"); },
       .names_cables = true,
       .watchable = true,
       .of_all = ShownOfAll{"status", all_status_text, all_status_json}});
}

absl::StatusOr<std::string> status_text(const std::string& answer, const Look& look) {
  return render_answer(answer, "status", [&](const Json& status) {
    return absl::StrCat(fitting(facts_text(status, look), look), problems_text(status.at("problems"), look),
                        neighbours_text(status, look), latest_events_text(status, look));
  });
}

}  // namespace cableway::cli
