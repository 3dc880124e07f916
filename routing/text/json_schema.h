// The version of the JSON documents that Cableway prints; each has it as its first member, "schema". It is incremented
// when a member is removed or changes its meaning, and when the topology, which `--file` reads back, gains one. Other
// documents may gain members at any time.
#ifndef CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_
#define CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace cableway::routing {

inline constexpr std::uint64_t kJsonSchema = 1;
inline constexpr char kSchemaMember[] = "schema";

// Why a document (an object) cannot be read; "" if it can. A document without a schema predates it and is accepted.
template <typename Json>
std::string schema_fault(const Json& document) {
  const auto schema = document.find(kSchemaMember);
  if (schema == document.end()) return "";
  if (!schema->is_number_unsigned() || *schema == 0) {
    return absl::StrCat("member \"", kSchemaMember, "\" is not a version number; expected ", kJsonSchema);
  }
  const auto version = schema->template get<std::uint64_t>();
  if (version <= kJsonSchema) return "";
  return absl::StrCat("its schema is ", version, "; expected ", kJsonSchema,
                      ": read it with the version that wrote it, or a later one");
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_JSON_SCHEMA_H_
