#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/all_nodes/moved_bytes.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

// The rate of a port since an earlier document of its node.
std::string port_mbps(const Json& now, const Json& port, const Json& before, const Direction& direction) {
  const Json* const earlier = port_of(before, text(port, "interface"));
  return earlier == nullptr ? "-" : mbps_between({before, *earlier}, {now, port}, direction);
}

void add_rows(const NodeDocument& each, const NodeDocuments* before, std::vector<std::vector<std::string>>& rows) {
  const Json* const earlier = document_of(before, each.node);
  for (const Json& port : each.document.at("ports")) {
    const std::string interface = text(port, "interface");
    const Json* const neighbour = neighbour_of(port);
    const std::string state = !port.at("carrier").get<bool>() ? "no carrier"
                              : neighbour == nullptr          ? "none heard"
                                                              : text(*neighbour, "state");
    const bool has_latency = neighbour != nullptr && !neighbour->at("latency_us").is_null();
    const auto moved = [&](const Direction& direction) {
      return earlier == nullptr ? carried(port, direction) : port_mbps(each.document, port, *earlier, direction);
    };
    rows.push_back({each.node, interface, neighbour == nullptr ? "-" : cable_end_text(cable_end_of(*neighbour)), state,
                    rate_or_dash(port, "rate_mbps"),
                    has_latency ? latency_text(neighbour->at("latency_us").get<double>()) : "-",
                    absl::StrCat(number(port, "mtu")), text(port, "transport"), moved(kIn), moved(kOut)});
  }
}

}  // namespace

std::string all_ports_text(NodeDocuments& documents, const NodeDocuments* before, const Look& look) {
  using Align = TextTable::Align;
  const bool has_rates = before != nullptr;
  TextTable table({{"node"},
                   {"port"},
                   {"neighbour"},
                   {"cable"},
                   {"rate", Align::kRight},
                   {"one way", Align::kRight},
                   {"MTU", Align::kRight},
                   {"hops"},
                   {has_rates ? "in, Mbit/s" : "received", Align::kRight},
                   {has_rates ? "out, Mbit/s" : "sent", Align::kRight}});
  read_each(documents, [&](const NodeDocument& each) {
    std::vector<std::vector<std::string>> rows;
    add_rows(each, before, rows);
    for (std::vector<std::string>& row : rows) table.add_row(std::move(row));
  });
  return absl::StrCat(table.text(), missing_text(documents, look));
}

Json all_ports_json(NodeDocuments documents) {
  read_each(documents, [](const NodeDocument& each) {
    std::vector<std::vector<std::string>> rows;
    add_rows(each, nullptr, rows);
  });
  return documents_json(documents);
}

}  // namespace cableway::cli
