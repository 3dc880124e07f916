#include "tools/cableway/sim/sim_compare.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/bounded_json.h"
#include "routing/node_name.h"
#include "routing/topology.h"
#include "tools/cableway/quantity_text.h"
#include "tools/cableway/text_table.h"

namespace cableway::cli {
namespace {

using ParsedJson = nlohmann::json;
using Quantity = std::optional<double>;

absl::Status bad_result(const std::string& file, const std::string& wrong) {
  return absl::InvalidArgumentError(
      absl::StrCat("file \"", file, "\": ", wrong, "; expected what cableway sim --json prints"));
}

Quantity quantity(const ParsedJson& object, const char* name) {
  const ParsedJson& value = object.at(name);
  return value.is_null() ? Quantity() : Quantity(value.get<double>());
}

// A terminal shows nothing else than names where names should be.
std::string name_in(const ParsedJson& object, const char* member) {
  std::string name = object.at(member).get<std::string>();
  return routing::is_valid_name(name, routing::kMaxCableNameLength) ? name : routing::in_quotes(name);
}

SimResult read_result(const ParsedJson& json, const std::string& name) {
  SimResult result;
  result.name = name;
  result.topology = json.at("topology").get<std::string>();
  result.workload = json.at("workload").get<std::string>();
  result.command = json.at("command").get<std::string>();
  result.time_s = quantity(json, "time_s");
  result.algbw_gbps = quantity(json, "algbw_gbps");
  result.busbw_gbps = quantity(json, "busbw_gbps");
  result.bound_time_s = quantity(json, "bound_time_s");
  result.ratio = quantity(json, "ratio");
  result.hottest = "-";
  if (const ParsedJson& hottest = json.at("hottest"); !hottest.is_null()) {
    result.hottest =
        absl::StrCat(name_in(hottest, "cable"), " ", name_in(hottest, "from"), " -> ", name_in(hottest, "to"));
    result.hottest_utilisation = quantity(hottest, "utilisation");
  }
  return result;
}

Quantity change(const Quantity& a, const Quantity& b) {
  if (!a || !b || *a == 0) return std::nullopt;
  return *b / *a - 1;
}

std::string seconds_or_dash(const Quantity& value) {
  return value ? seconds_text(*value) : "-";
}

std::string number_or_dash(const Quantity& value) {
  return value ? absl::StrFormat("%.3f", *value) : "-";
}

std::string share_or_dash(const Quantity& value) {
  return value ? percent_text(*value) : "-";
}

std::string change_text(const Quantity& a, const Quantity& b) {
  const Quantity share = change(a, b);
  return share ? absl::StrFormat("%+.1f %%", 100 * *share) : "-";
}

ParsedJson or_null(const Quantity& value) {
  return value ? ParsedJson(*value) : ParsedJson(nullptr);
}

nlohmann::ordered_json result_json(const SimResult& result) {
  return {{"file", result.name},
          {"command", result.command},
          {"topology", result.topology},
          {"workload", result.workload},
          {"time_s", or_null(result.time_s)},
          {"algbw_gbps", or_null(result.algbw_gbps)},
          {"busbw_gbps", or_null(result.busbw_gbps)},
          {"bound_time_s", or_null(result.bound_time_s)},
          {"ratio", or_null(result.ratio)}};
}

}  // namespace

absl::StatusOr<SimResult> parse_sim_result(std::string_view text, const std::string& file_name) {
  constexpr routing::JsonBounds kBounds{.bytes = kMaxSimResultBytes, .depth = 8, .values = 8'000'000};
  const absl::StatusOr<ParsedJson> json =
      routing::parse_bounded_json(text, file_name, kBounds, "what cableway sim --json prints");
  if (!json.ok()) return json.status();
  try {
    return read_result(*json, file_name);
  } catch (const ParsedJson::exception& error) {
    return bad_result(file_name, error.what());
  }
}

std::string comparison_text(const SimResult& a, const SimResult& b) {
  using Align = TextTable::Align;
  TextTable table({{""}, {"A", Align::kRight}, {"B", Align::kRight}, {"B against A", Align::kRight}});
  const auto add = [&](const char* name, const Quantity& of_a, const Quantity& of_b,
                       std::string (*text)(const Quantity&)) {
    table.add_row({name, text(of_a), text(of_b), change_text(of_a, of_b)});
  };
  add("time", a.time_s, b.time_s, seconds_or_dash);
  add("algbw GB/s", a.algbw_gbps, b.algbw_gbps, number_or_dash);
  add("busbw GB/s", a.busbw_gbps, b.busbw_gbps, number_or_dash);
  add("bound", a.bound_time_s, b.bound_time_s, seconds_or_dash);
  add("ratio", a.ratio, b.ratio, number_or_dash);
  add("hottest", a.hottest_utilisation, b.hottest_utilisation, share_or_dash);
  table.add_row({"cable", a.hottest, b.hottest, ""});
  const auto heading = [](const char* name, const SimResult& result) {
    return absl::StrCat(name, "  ", result.name, ": ", routing::in_quotes(result.workload), " on ",
                        routing::in_quotes(result.topology), "\n");
  };
  return absl::StrCat(heading("A", a), heading("B", b), "\n", table.text());
}

std::string comparison_json(const SimResult& a, const SimResult& b) {
  const nlohmann::ordered_json view = {{"a", result_json(a)},
                                       {"b", result_json(b)},
                                       {"change",
                                        {{"time_s", or_null(change(a.time_s, b.time_s))},
                                         {"algbw_gbps", or_null(change(a.algbw_gbps, b.algbw_gbps))},
                                         {"busbw_gbps", or_null(change(a.busbw_gbps, b.busbw_gbps))},
                                         {"ratio", or_null(change(a.ratio, b.ratio))}}}};
  // What the shell was given need not be UTF-8.
  return view.dump(2, ' ', false, ParsedJson::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
