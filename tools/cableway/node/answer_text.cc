#include "tools/cableway/node/answer_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {

std::string rate_or_dash(const Json& object, const char* name) {
  return object.at(name).is_null() ? "-" : rate_text(number(object, name));
}

std::string mbps_or_dash(const Json& carried) {
  const Json& mbps = carried.at("mbps");
  return mbps.is_null() ? "-" : absl::StrFormat("%.1f", mbps.get<double>());
}

std::string problem_age(const Json& problem) {
  if (problem.at("seconds").is_null()) return "";
  return absl::StrCat("for ", age_text(number(problem, "seconds") * 1000));
}

std::string problem_text(const Json& problem) {
  const std::string age = problem_age(problem);
  return absl::StrCat(text(problem, "text"), age.empty() ? "" : absl::StrCat(" (", age, ")"));
}

}  // namespace cableway::cli
