#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

struct StatusRow {
  std::vector<std::string> cells;
  std::string problems;
};

std::string problem_lines(const Json& status) {
  std::string lines;
  for (const Json& problem : status.at("problems")) {
    const Json& seconds = problem.at("seconds");
    const std::string since =
        seconds.is_null() ? "" : absl::StrCat(" (for ", age_text(whole_number(seconds) * 1000), ")");
    absl::StrAppend(&lines, "  ", text(problem, "text"), since, " [", text(problem, "code"), "]\n");
  }
  return lines;
}

StatusRow row_of(const Json& status) {
  const Json& own = status.at("own");
  const std::size_t draining = status.at("draining_cables").size();
  const std::string drains = status.at("draining").get<bool>() ? "node"
                             : draining > 0                    ? absl::StrCat(draining, " cables")
                                                               : "-";
  return {
      {text(status, "node"), text(status, "version"), age_text(number(status, "uptime_ms")),
       absl::StrCat(number(status, "nodes")), absl::StrCat(status.at("neighbours").size()),
       absl::StrCat(number(status, "cables_up")), absl::StrCat(number(own, "flows_open")),
       absl::StrCat(number(status.at("relayed"), "circuits_open")), drains, absl::StrCat(status.at("problems").size())},
      problem_lines(status)};
}

}  // namespace

std::string all_status_text(NodeDocuments& documents) {
  using Align = TextTable::Align;
  TextTable table({{"node"},
                   {"version"},
                   {"up for", Align::kRight},
                   {"nodes", Align::kRight},
                   {"neighbours", Align::kRight},
                   {"cables", Align::kRight},
                   {"flows", Align::kRight},
                   {"relayed", Align::kRight},
                   {"draining"},
                   {"problems", Align::kRight}});
  std::string problems;
  read_each(documents, [&](const NodeDocument& each) {
    StatusRow row = row_of(each.document);
    table.add_row(std::move(row.cells));
    if (!row.problems.empty()) absl::StrAppend(&problems, "\nproblems of node ", each.node, "\n", row.problems);
  });
  return absl::StrCat(table.text(), problems, missing_text(documents));
}

Json all_status_json(NodeDocuments documents) {
  read_each(documents, [](const NodeDocument& each) { static_cast<void>(row_of(each.document)); });
  return documents_json(documents);
}

}  // namespace cableway::cli
