#include "tools/cableway/node/node_answer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/json_schema.h"

namespace cableway::cli {

absl::Status not_understood(const std::string& view, const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("the node's ", view, " cannot be parsed (", reason,
                   "): install the same Cableway version for both, and restart cablewayd"));
}

absl::StatusOr<Json> parse_answer(const std::string& answer, const std::string& view) {
  Json json = Json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return not_understood(view, "it is not a JSON object");
  if (const std::string wrong = routing::schema_fault(json); !wrong.empty()) return not_understood(view, wrong);
  return json;
}

absl::StatusOr<std::string> answer_as_json(const std::string& answer, const std::string& view) {
  const absl::StatusOr<Json> json = parse_answer(answer, view);
  if (!json.ok()) return json.status();
  return json->dump(2) + "\n";
}

}  // namespace cableway::cli
