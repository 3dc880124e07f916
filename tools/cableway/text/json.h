// JSON of the views: members keep their insertion order.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_JSON_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>

namespace cableway::cli {

using Json = nlohmann::ordered_json;

inline Json number_or_null(std::optional<double> number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_JSON_H_
