#include "tools/cableway/sim/sim_compare.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/text/bounded_json.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "routing/topology/topology.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

using ParsedJson = nlohmann::json;
using Quantity = std::optional<double>;

// A wire's name joins those of its cables.
constexpr std::size_t kMaxNameBytes = 2 * routing::kMaxCableNameLength;

absl::Status bad_result(const std::string& file, const std::string& wrong) {
  return absl::InvalidArgumentError(
      absl::StrCat("file \"", file, "\": ", wrong, "; expected what cableway sim --json prints"));
}

// Quotes a name from the file unless it is printable ASCII, so that it cannot control a terminal. Names of connectors
// contain spaces, names of wires signs.
std::string shown_name(const std::string& name) {
  const bool is_plain = !name.empty() && name.size() <= kMaxNameBytes &&
                        std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? name : routing::in_quotes(name);
}

// Identifies the output of other modes by a member that only they have.
std::string_view fault_of_other_output(const ParsedJson& json) {
  if (json.contains("single_points_of_failure")) return "it is a result of cableway sim --what-if, which has no times";
  if (json.contains("change")) return "it is a comparison by cableway sim --compare already";
  return "";
}

// Reads one object; the first fault is reported.
class ResultReader {
 public:
  explicit ResultReader(const std::string& file) : file_(file) {}

  absl::StatusOr<SimResult> read(const ParsedJson& json) {
    if (!json.is_object()) return bad_result(file_, absl::StrCat("it holds ", type_text(json), ", not an object"));
    if (const std::string wrong = routing::schema_fault(json); !wrong.empty()) return bad_result(file_, wrong);
    if (const std::string_view known = fault_of_other_output(json); !known.empty())
      return bad_result(file_, std::string(known));
    SimResult result;
    result.name = file_;
    result.topology = text(json, "", "topology");
    result.workload = text(json, "", "workload");
    result.command = text(json, "", "command");
    result.time_s = quantity(json, "", "time_s");
    result.algbw_GBps = quantity(json, "", "algbw_GBps");
    result.busbw_GBps = quantity(json, "", "busbw_GBps");
    result.bound_time_s = quantity(json, "", "bound_time_s");
    result.ratio = quantity(json, "", "ratio");
    read_hottest(json, result);
    if (!status_.ok()) return status_;
    return result;
  }

 private:
  static std::string type_text(const ParsedJson& value) {
    if (value.is_null()) return "null";
    if (value.is_boolean()) return "true or false";
    if (value.is_number()) return "a number";
    if (value.is_string()) return "a text";
    return value.is_array() ? "a list" : "an object";
  }

  void fault(const std::string& wrong) {
    if (status_.ok()) status_ = bad_result(file_, wrong);
  }

  // Null if it is missing, which is a fault. `of` is the parent's prefix, such as "hottest.".
  const ParsedJson* member(const ParsedJson& object, const char* of, const char* name) {
    const auto found = object.find(name);
    if (found != object.end()) return &*found;
    fault(absl::StrCat("member \"", of, name, "\" is missing"));
    return nullptr;
  }
  void wrong_type(const ParsedJson& value, const char* of, const char* name, const char* expected) {
    fault(absl::StrCat("member \"", of, name, "\" is ", type_text(value), ", not ", expected));
  }

  std::string text(const ParsedJson& object, const char* of, const char* name) {
    const ParsedJson* value = member(object, of, name);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    wrong_type(*value, of, name, "a text");
    return "";
  }

  Quantity quantity(const ParsedJson& object, const char* of, const char* name) {
    const ParsedJson* value = member(object, of, name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->is_number()) return value->get<double>();
    wrong_type(*value, of, name, "a number or null");
    return std::nullopt;
  }

  // Prefers what cables share only if it was busier than every cable.
  void read_hottest(const ParsedJson& json, SimResult& result) {
    result.hottest = "-";
    const ParsedJson* cable = member(json, "", "hottest");
    if (cable != nullptr && !cable->is_null()) {
      if (!cable->is_object()) return wrong_type(*cable, "", "hottest", "an object or null");
      result.hottest = absl::StrCat(shown_name(text(*cable, "hottest.", "cable")), " ", way(*cable, "hottest."));
      result.hottest_utilisation = quantity(*cable, "hottest.", "utilisation");
    }
    // Results of older versions lack this member.
    const auto shared = json.find("hottest_shared");
    if (shared == json.end() || shared->is_null()) return;
    if (!shared->is_object()) return wrong_type(*shared, "", "hottest_shared", "an object or null");
    const Quantity utilisation = quantity(*shared, "hottest_shared.", "utilisation");
    const std::string name = shown_name(text(*shared, "hottest_shared.", "name"));
    const std::string where = shared_place(*shared, name);
    if (!utilisation || (result.hottest_utilisation && *utilisation <= *result.hottest_utilisation)) return;
    result.hottest = where;
    result.hottest_utilisation = utilisation;
  }

  std::string way(const ParsedJson& object, const char* of) {
    return absl::StrCat(shown_name(text(object, of, "from")), " -> ", shown_name(text(object, of, "to")));
  }

  // A connector or root has one end only.
  std::string shared_place(const ParsedJson& shared, const std::string& name) {
    const ParsedJson* from = member(shared, "hottest_shared.", "from");
    const ParsedJson* to = member(shared, "hottest_shared.", "to");
    if (from == nullptr || to == nullptr) return "";
    if (to->is_null()) return absl::StrCat(name, ", out");
    if (from->is_null()) return absl::StrCat(name, ", in");
    return absl::StrCat(name, " ", way(shared, "hottest_shared."));
  }

  const std::string& file_;
  absl::Status status_;
};

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
          {"algbw_GBps", or_null(result.algbw_GBps)},
          {"busbw_GBps", or_null(result.busbw_GBps)},
          {"bound_time_s", or_null(result.bound_time_s)},
          {"ratio", or_null(result.ratio)}};
}

}  // namespace

absl::StatusOr<SimResult> parse_sim_result(std::string_view text, const std::string& file_name) {
  constexpr routing::JsonBounds kBounds{.bytes = kMaxSimResultBytes, .depth = 8, .values = 8'000'000};
  const absl::StatusOr<ParsedJson> json =
      routing::parse_bounded_json(text, file_name, kBounds, "what cableway sim --json prints");
  if (!json.ok()) return json.status();
  return ResultReader(file_name).read(*json);
}

std::string comparison_text(const SimResult& a, const SimResult& b) {
  using Align = TextTable::Align;
  TextTable table({{""}, {"A", Align::kRight}, {"B", Align::kRight}, {"B against A", Align::kRight}});
  const auto add = [&](const char* name, const Quantity& of_a, const Quantity& of_b,
                       std::string (*text)(const Quantity&)) {
    table.add_row({name, text(of_a), text(of_b), change_text(of_a, of_b)});
  };
  add("time", a.time_s, b.time_s, seconds_or_dash);
  add("algbw GB/s", a.algbw_GBps, b.algbw_GBps, number_or_dash);
  add("busbw GB/s", a.busbw_GBps, b.busbw_GBps, number_or_dash);
  add("bound", a.bound_time_s, b.bound_time_s, seconds_or_dash);
  add("ratio", a.ratio, b.ratio, number_or_dash);
  add("hottest", a.hottest_utilisation, b.hottest_utilisation, share_or_dash);
  table.add_row({"where", a.hottest, b.hottest, ""});
  const auto heading = [](const char* name, const SimResult& result) {
    return absl::StrCat(name, "  ", result.name, ": ", routing::in_quotes(result.workload), " on ",
                        routing::in_quotes(result.topology), "\n");
  };
  return absl::StrCat(heading("A", a), heading("B", b), "\n", table.text());
}

std::string comparison_json(const SimResult& a, const SimResult& b) {
  const nlohmann::ordered_json view = {{routing::kSchemaMember, routing::kJsonSchema},
                                       {"a", result_json(a)},
                                       {"b", result_json(b)},
                                       {"change",
                                        {{"time", or_null(change(a.time_s, b.time_s))},
                                         {"algbw", or_null(change(a.algbw_GBps, b.algbw_GBps))},
                                         {"busbw", or_null(change(a.busbw_GBps, b.busbw_GBps))},
                                         {"ratio", or_null(change(a.ratio, b.ratio))}}}};
  // Command-line arguments need not be UTF-8.
  return view.dump(2, ' ', false, ParsedJson::error_handler_t::replace) + "\n";
}

}  // namespace cableway::cli
