#include "tools/cableway/status_view.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/text_table.h"

namespace cableway::cli {
namespace {

using Json = nlohmann::ordered_json;

// "67108864 bytes (64.0 MiB)"
std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr std::uint64_t kStep = 1024;
  if (bytes < kStep) return absl::StrCat(bytes, " bytes");
  double scaled = static_cast<double>(bytes) / static_cast<double>(kStep);
  std::size_t unit = 0;
  for (; scaled >= static_cast<double>(kStep); ++unit) scaled /= static_cast<double>(kStep);
  return absl::StrFormat("%d bytes (%.1f %s)", bytes, scaled, kUnits[unit]);
}

std::uint64_t number(const Json& object, const char* name) {
  return object.at(name).get<std::uint64_t>();
}

std::string facts_text(const Json& status) {
  const Json& relayed = status.at("relayed");
  return absl::StrCat(
      "node ", status.at("node").get<std::string>(), " of cluster ", status.at("cluster").get<std::string>(), "\n",
      "  addresses   ", absl::StrJoin(status.at("addresses").get<std::vector<std::string>>(), ", "), "\n",
      "  relay port  ", number(status, "relay_port"), "\n", "  sessions    ", number(status, "sessions"),
      ", this command's included\n", "  relayed     ", bytes_text(number(relayed, "bytes")), " in ",
      number(relayed, "chunks"), " chunks\n", "  circuits    ", number(relayed, "circuits_open"), " open, ",
      number(relayed, "circuits_opened"), " opened, ", number(relayed, "circuits_broken"), " broken, ",
      number(relayed, "setups_refused"), " set-ups refused\n");
}

std::string circuits_text(const Json& circuits) {
  if (circuits.empty()) return "";
  using Align = TextTable::Align;
  TextTable table({{"open circuit"}, {"flow", Align::kRight}, {"chunks", Align::kRight}, {"bytes", Align::kRight}});
  for (const Json& circuit : circuits) {
    table.add_row({circuit.at("path").get<std::string>(), absl::StrFormat("%016x", number(circuit, "flow")),
                   absl::StrCat(number(circuit, "chunks")), absl::StrCat(number(circuit, "bytes"))});
  }
  return absl::StrCat("\n", table.text());
}

absl::Status not_a_status(const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("the node's status is not understood (", reason, "): install the same Cableway for both"));
}

}  // namespace

absl::StatusOr<std::string> status_text(const std::string& answer) {
  try {
    const Json status = Json::parse(answer);
    return facts_text(status) + circuits_text(status.at("circuits"));
  } catch (const Json::exception& error) {
    return not_a_status(error.what());
  }
}

absl::StatusOr<std::string> status_json(const std::string& answer) {
  const Json status = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!status.is_object()) return not_a_status("it is no JSON object");
  return status.dump(2) + "\n";
}

}  // namespace cableway::cli
