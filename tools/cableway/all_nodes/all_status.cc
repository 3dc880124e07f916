#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/all_nodes/moved_bytes.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

struct StatusRow {
  std::vector<std::string> cells;
  std::string problems;
};

std::string problem_lines(const Json& status, const Look& look) {
  std::string lines;
  for (const Json& problem : status.at("problems")) {
    lines += look.lines("  ", absl::StrCat(problem_text(problem), " [", text(problem, "code"), "]"));
  }
  return lines;
}

// Bytes; with an earlier document the rate since. Sums of other ports cannot be compared.
std::string carried_or_rate(const Json& status, const Json* before, const Direction& direction) {
  if (before == nullptr) return carried(status, direction);
  for (const char* ports : {"counted_ports", "rdma_counted_ports"}) {
    if (status.value(ports, Json()) != before->value(ports, Json())) return "-";
  }
  return mbps_between({*before, *before}, {status, status}, direction);
}

StatusRow row_of(const Json& status, const Json* before, const Look& look) {
  const Json& own = status.at("own");
  const std::size_t draining = status.at("draining_cables").size();
  const std::string drains = status.at("draining").get<bool>() ? "node"
                             : draining > 0                    ? absl::StrCat(draining, " cables")
                                                               : "-";
  return {{text(status, "node"), text(status, "version"), age_text(number(status, "uptime_ms")),
           absl::StrCat(number(status, "nodes")), absl::StrCat(status.at("neighbours").size()),
           absl::StrCat(number(status, "cables_up")), absl::StrCat(number(own, "flows_open")),
           absl::StrCat(number(status.at("relayed"), "circuits_open")), carried_or_rate(status, before, kIn),
           carried_or_rate(status, before, kOut), drains, absl::StrCat(status.at("problems").size())},
          problem_lines(status, look)};
}

}  // namespace

std::string all_status_text(NodeDocuments& documents, const NodeDocuments* before, const Look& look) {
  const bool has_rates = before != nullptr;
  using Align = TextTable::Align;
  TextTable table({{"node"},
                   {"version"},
                   {"up for", Align::kRight},
                   {"nodes", Align::kRight},
                   {"neighbours", Align::kRight},
                   {"cables", Align::kRight},
                   {"flows", Align::kRight},
                   {"relayed", Align::kRight},
                   {has_rates ? "in, Mbit/s" : "received", Align::kRight},
                   {has_rates ? "out, Mbit/s" : "sent", Align::kRight},
                   {"draining"},
                   {"problems", Align::kRight}});
  std::string problems;
  read_each(documents, [&](const NodeDocument& each) {
    StatusRow row = row_of(each.document, document_of(before, each.node), look);
    table.add_row(std::move(row.cells));
    if (!row.problems.empty()) absl::StrAppend(&problems, "\nproblems of node ", each.node, "\n", row.problems);
  });
  return absl::StrCat(table.text(), problems, missing_text(documents, look));
}

Json all_status_json(NodeDocuments documents) {
  read_each(documents, [](const NodeDocument& each) { static_cast<void>(row_of(each.document, nullptr, Look())); });
  return documents_json(documents);
}

}  // namespace cableway::cli
