#include "tools/cableway/verbs/status.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
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

std::string facts_text(const Json& status) {
  const Json& relayed = status.at("relayed");
  const Json& own = status.at("own");
  const Json& memory = status.at("relay_memory");
  const auto addresses = status.at("addresses").get<std::vector<std::string>>();
  const bool draining = status.at("draining").get<bool>();
  const auto draining_cables = status.at("draining_cables").get<std::vector<std::string>>();
  return absl::StrCat(
      "node ", text(status, "node"), " of cluster ", text(status, "cluster"),
      draining ? ", draining: no path leads through it" : "", "\n",
      draining_cables.empty() ? "" : absl::StrCat("  draining    ", absl::StrJoin(draining_cables, ", "), "\n"),
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

std::string problems_text(const Json& problems) {
  std::string lines;
  for (const Json& problem : problems) {
    const Json& seconds = problem.at("seconds");
    const std::string since =
        seconds.is_null() ? "" : absl::StrCat(" (for ", age_text(seconds.get<std::uint64_t>() * 1000), ")");
    absl::StrAppend(&lines, "  problem     ", text(problem, "text"), since, " [", text(problem, "code"), "]\n");
  }
  return lines;
}

}  // namespace

std::unique_ptr<Verb> status_verb() {
  return node_view_verb(
      {.name = "status",
       .summary = "the node's addresses, problems, sessions, flows and relaying",
       .examples = {"cableway status", "cableway status --all", "cableway status --json | jq .relayed.bytes"},
       .view = "status",
       .as_text = status_text,
       .as_json = [](const std::string& answer) { return answer_as_json(answer, "status"); },
       .of_all = ShownOfAll{"status",
                            [](NodeDocuments documents, const NodeDocuments* /*before*/) {
                              return all_status_text(std::move(documents));
                            },
                            all_status_json}});
}

absl::StatusOr<std::string> status_text(const std::string& answer) {
  return render_answer(answer, "status",
                       [](const Json& status) { return facts_text(status) + problems_text(status.at("problems")); });
}

}  // namespace cableway::cli
