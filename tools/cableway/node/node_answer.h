// Parses a node's answers, which may come from another version. All commands use these functions.
#ifndef CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_ANSWER_H_
#define CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_ANSWER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

// `view` names the answer in the error: "the node's status cannot be parsed (..)".
absl::Status not_understood(const std::string& view, const std::string& reason);

// The answer as JSON; InvalidArgument if it is not a JSON object.
absl::StatusOr<Json> parse_answer(const std::string& answer, const std::string& view);

// As printed for scripts: indented, with a final newline.
absl::StatusOr<std::string> answer_as_json(const std::string& answer, const std::string& view);

// Applies `read` to the answer. A field that is missing or of another type becomes an error.
template <typename Result, typename Read>
absl::StatusOr<Result> read_answer(const std::string& answer, const std::string& view, Read read) {
  absl::StatusOr<Json> json = parse_answer(answer, view);
  if (!json.ok()) return json.status();
  try {
    return read(*json);
  } catch (const Json::exception& error) {
    return not_understood(view, error.what());
  }
}

template <typename Render>
absl::StatusOr<std::string> render_answer(const std::string& answer, const std::string& view, Render render) {
  return read_answer<std::string>(answer, view, render);
}

// All throw Json::exception if the field is missing or of another type.

// Negative numbers and fractions, which Json would convert to some number, are of another type.
inline std::uint64_t whole_number(const Json& value) {
  const bool is_small = value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= 0;
  return is_small ? value.get<std::uint64_t>() : value.get_ref<const Json::number_unsigned_t&>();
}
inline std::uint64_t number(const Json& object, const char* name) {
  return whole_number(object.at(name));
}
inline std::string text(const Json& object, const char* name) {
  return object.at(name).get<std::string>();
}
// "" for null, which is about none, and where it is missing, as in what a node of an earlier version shows.
inline std::string text_or_none(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}
// The text, or "-" for null.
inline std::string text_or_dash(const Json& object, const char* name) {
  return object.at(name).is_null() ? "-" : text(object, name);
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_NODE_NODE_ANSWER_H_
