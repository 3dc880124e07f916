// JSON that nobody vouches for: parsed without exceptions, after a look at how much there is of it.
#ifndef CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_
#define CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::routing {

struct JsonBounds {
  std::size_t bytes;
  std::size_t depth;   // of arrays and objects in each other
  std::size_t values;  // of any kind, and the names of an object's members
};

// InvalidArgument reads "FILE:LINE: what is wrong; what was expected" where the text is no JSON, and "FILE: .." where
// it is too much; `file_name` only appears there. `expected` says what the file holds, after "expected ". Where an
// object has a member twice, the last one counts.
absl::StatusOr<nlohmann::json> parse_bounded_json(std::string_view text, std::string_view file_name,
                                                  const JsonBounds& bounds, std::string_view expected);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_
