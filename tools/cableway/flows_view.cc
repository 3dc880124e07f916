#include "tools/cableway/flows_view.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/node_answer.h"
#include "tools/cableway/quantity_text.h"
#include "tools/cableway/text_table.h"

namespace cableway::cli {
namespace {

std::string flow_id(const Json& circuit) {
  return absl::StrFormat("%016x", number(circuit, "flow"));
}

double mean_mbps(const Json& circuit) {
  constexpr double kBitsPerByte = 8;
  constexpr double kMegabitsPerMillisecond = 1000;
  const double milliseconds = static_cast<double>(std::max<std::uint64_t>(number(circuit, "open_ms"), 1));
  return static_cast<double>(number(circuit, "bytes")) * kBitsPerByte / kMegabitsPerMillisecond / milliseconds;
}

std::uint64_t left_out(const Json& status) {
  const std::uint64_t open = number(status.at("relayed"), "circuits_open");
  const std::uint64_t listed = status.at("circuits").size();
  return open > listed ? open - listed : 0;
}

}  // namespace

absl::StatusOr<std::string> flows_text(const std::string& answer) {
  return render_answer(answer, "status", [](const Json& status) {
    const Json& circuits = status.at("circuits");
    std::string head = absl::StrCat("circuits through node ", text(status, "node"), ": ",
                                    number(status.at("relayed"), "circuits_open"), " open\n");
    if (circuits.empty()) return head;
    using Align = TextTable::Align;
    TextTable table({{"flow"},
                     {"path"},
                     {"open for", Align::kRight},
                     {"chunks", Align::kRight},
                     {"payload", Align::kRight},
                     {"mean Mbit/s", Align::kRight}});
    for (const Json& circuit : circuits) {
      table.add_row({flow_id(circuit), text(circuit, "path"), age_text(number(circuit, "open_ms")),
                     absl::StrCat(number(circuit, "chunks")), bytes_text(number(circuit, "bytes")),
                     absl::StrFormat("%.1f", mean_mbps(circuit))});
    }
    const std::uint64_t rest = left_out(status);
    return absl::StrCat(head, "\n", table.text(), rest == 0 ? "" : absl::StrCat("and ", rest, " more\n"));
  });
}

absl::StatusOr<std::string> flows_json(const std::string& answer) {
  return render_answer(answer, "status", [](const Json& status) {
    Json flows = Json::array();
    for (const Json& circuit : status.at("circuits")) {
      flows.push_back({{"flow", flow_id(circuit)},
                       {"path", text(circuit, "path")},
                       {"chunks", number(circuit, "chunks")},
                       {"bytes", number(circuit, "bytes")},
                       {"open_ms", number(circuit, "open_ms")},
                       {"mean_mbps", mean_mbps(circuit)}});
    }
    const Json view = {{"node", text(status, "node")}, {"flows", flows}, {"left_out", left_out(status)}};
    return view.dump(2) + "\n";
  });
}

}  // namespace cableway::cli
