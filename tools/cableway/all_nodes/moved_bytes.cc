#include "tools/cableway/all_nodes/moved_bytes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_format.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// nullopt: not known.
std::optional<std::uint64_t> count(const Json& counts, const char* member) {
  const auto found = counts.find(member);
  if (found == counts.end() || found->is_null()) return std::nullopt;
  return whole_number(*found);
}

// nullopt: not known at both times, or counted from zero again since.
std::optional<std::uint64_t> moved_between(const Json& before, const Json& now, const char* member) {
  const std::optional<std::uint64_t> from = count(before, member);
  const std::optional<std::uint64_t> to = count(now, member);
  if (!from || !to || *to < *from) return std::nullopt;
  return *to - *from;
}

}  // namespace

const Json* document_of(const NodeDocuments* documents, const std::string& node) {
  if (documents == nullptr) return nullptr;
  const auto found = std::find_if(documents->shown.begin(), documents->shown.end(),
                                  [&](const NodeDocument& each) { return each.node == node; });
  return found == documents->shown.end() ? nullptr : &found->document;
}

std::string mbps_between(const CountsAt& before, const CountsAt& now, const Direction& direction) {
  constexpr double kBitsPerByte = 8;
  constexpr double kPerMillisecond = 1000;
  const std::uint64_t from = number(before.document, "uptime_ms");
  const std::uint64_t to = number(now.document, "uptime_ms");
  const std::optional<std::uint64_t> moved = moved_between(before.counts, now.counts, direction.interface);
  if (to <= from || !moved) return "-";
  const double bytes = static_cast<double>(*moved) +
                       static_cast<double>(moved_between(before.counts, now.counts, direction.rdma).value_or(0));
  return absl::StrFormat("%.1f", bytes * kBitsPerByte / kPerMillisecond / static_cast<double>(to - from));
}

std::string carried(const Json& counts, const Direction& direction) {
  const std::optional<std::uint64_t> bytes = count(counts, direction.interface);
  return bytes ? bytes_text(*bytes + count(counts, direction.rdma).value_or(0)) : "-";
}

}  // namespace cableway::cli
