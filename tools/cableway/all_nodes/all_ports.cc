#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/all_nodes/cable_end.h"
#include "tools/cableway/node/answer_text.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

// The document of that node; null: there is none.
const Json* document_of(const NodeDocuments* documents, const std::string& node) {
  if (documents == nullptr) return nullptr;
  const auto found = std::find_if(documents->shown.begin(), documents->shown.end(),
                                  [&](const NodeDocument& each) { return each.node == node; });
  return found == documents->shown.end() ? nullptr : &found->document;
}

// The members of what a port has carried in one direction: its interface, and its RDMA device, whose bytes the
// interface does not count. Nodes of version 0.1 have only the first.
struct Direction {
  const char* interface;
  const char* rdma;
};
constexpr Direction kIn{"received_bytes", "rdma_received_bytes"};
constexpr Direction kOut{"sent_bytes", "rdma_sent_bytes"};

// nullopt: not known.
std::optional<std::uint64_t> count(const Json& port, const char* member) {
  const auto found = port.find(member);
  if (found == port.end() || found->is_null()) return std::nullopt;
  return whole_number(*found);
}

// nullopt: not known at both times, or counted anew since.
std::optional<std::uint64_t> moved_since(const Json& port, const Json& earlier, const char* member) {
  const std::optional<std::uint64_t> now = count(port, member);
  const std::optional<std::uint64_t> then = count(earlier, member);
  if (!now || !then || *now < *then) return std::nullopt;
  return *now - *then;
}

// By the node's own clock. The node may show one document twice, and may have started again.
std::string mbps_since(const Json& now, const Json& port, const Json& before, const Direction& direction) {
  constexpr double kBitsPerByte = 8;
  constexpr double kPerMillisecond = 1000;
  const Json* const earlier = port_of(before, text(port, "interface"));
  if (earlier == nullptr) return "-";
  const std::uint64_t from = number(before, "uptime_ms");
  const std::uint64_t to = number(now, "uptime_ms");
  const std::optional<std::uint64_t> moved = moved_since(port, *earlier, direction.interface);
  if (to <= from || !moved) return "-";
  const double bytes =
      static_cast<double>(*moved) + static_cast<double>(moved_since(port, *earlier, direction.rdma).value_or(0));
  return absl::StrFormat("%.1f", bytes * kBitsPerByte / kPerMillisecond / static_cast<double>(to - from));
}

std::string carried(const Json& port, const Direction& direction) {
  const std::optional<std::uint64_t> bytes = count(port, direction.interface);
  return bytes ? bytes_text(*bytes + count(port, direction.rdma).value_or(0)) : "-";
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
      return earlier == nullptr ? carried(port, direction) : mbps_since(each.document, port, *earlier, direction);
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
