// The version of the JSON documents that Cableway prints, which each has as its first member, "schema". It grows when a
// member goes or changes its meaning; members may come at any time.
#ifndef CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_
#define CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace cableway::routing {

inline constexpr std::uint64_t kJsonSchema = 1;
inline constexpr char kSchemaMember[] = "schema";

// Why a document (an object) of that schema cannot be read; "" where it can. One without a schema is older than this.
template <typename Json>
std::string schema_fault(const Json& document) {
  const auto schema = document.find(kSchemaMember);
  if (schema == document.end()) return "";
  if (!schema->is_number_unsigned() || *schema == 0) {
    return absl::StrCat("member \"", kSchemaMember, "\" is no version; expected ", kJsonSchema);
  }
  const auto version = schema->template get<std::uint64_t>();
  if (version <= kJsonSchema) return "";
  return absl::StrCat("its schema is ", version, ", and this Cableway reads ", kJsonSchema,
                      ": read it with the version that wrote it, or a later one");
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_
