#include "tools/cableway/all_nodes/moved_bytes.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {

const Json* document_of(const NodeDocuments* documents, const std::string& node) {
  if (documents == nullptr) return nullptr;
  const auto found = std::find_if(documents->shown.begin(), documents->shown.end(),
                                  [&](const NodeDocument& each) { return each.node == node; });
  return found == documents->shown.end() ? nullptr : &found->document;
}

std::string mbps_between(const BytesAt& before, const BytesAt& now) {
  constexpr double kBitsPerByte = 8;
  constexpr double kPerMillisecond = 1000;
  if (before.bytes.is_null() || now.bytes.is_null()) return "-";
  const std::uint64_t from = whole_number(before.uptime_ms);
  const std::uint64_t to = whole_number(now.uptime_ms);
  if (to <= from || whole_number(now.bytes) < whole_number(before.bytes)) return "-";
  const double bytes = static_cast<double>(whole_number(now.bytes) - whole_number(before.bytes));
  return absl::StrFormat("%.1f", bytes * kBitsPerByte / kPerMillisecond / static_cast<double>(to - from));
}

std::string bytes_or_dash(const Json& bytes) {
  return bytes.is_null() ? "-" : bytes_text(whole_number(bytes));
}

}  // namespace cableway::cli
