// Which name somebody meant who mistyped one.
#ifndef CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_
#define CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cableway::routing {

// The name that `typed` is nearest to: by letters that are wrong, missing, too many or swapped with their neighbour, at
// most one in three of the longer of the two; or a name that begins with `typed`. Of equally near ones the first.
// Nothing where none is so near, and for what is longer than a name.
std::optional<std::string_view> nearest_name(std::string_view typed, std::span<const std::string_view> names);

// What a message puts behind `typed`: " (did you mean \"status\"?)", or nothing.
std::string did_you_mean(std::string_view typed, std::span<const std::string_view> names);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_NEAREST_NAME_H_
