// Finds the name that a mistyped one was probably meant to be.
#ifndef CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_
#define CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cableway::routing {

// The name nearest to `typed`: at most one letter in three of the longer name may be wrong, missing, extra or swapped
// with its neighbour; or a name that begins with `typed`. Ties go to the first. nullopt if no name is near enough, and
// for text longer than a name.
std::optional<std::string_view> nearest_name(std::string_view typed, std::span<const std::string_view> names);

// The hint that a message appends to `typed`: " (did you mean \"status\"?)", or "".
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_
