// Parses untrusted JSON without exceptions, after checking its size against bounds.
#ifndef CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_
#define CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::routing {

struct JsonBounds {
  std::size_t bytes;
  std::size_t depth;   // of nested arrays and objects
  std::size_t values;  // of any kind, plus the names of object members
};

// InvalidArgument reads "FILE:LINE: what is wrong; what was expected" if the text is not JSON, and "FILE: .." if it
// exceeds the bounds, has a NUL byte or an object that has two members of one name; `file_name` is used only there.
// `expected` describes the contents, after "expected ".
absl::StatusOr<nlohmann::json> parse_bounded_json(std::string_view text, std::string_view file_name,
                                                  const JsonBounds& bounds, std::string_view expected);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_BOUNDED_JSON_H_
