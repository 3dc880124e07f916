// Names of nodes and cables: validity, ordering, and quoting in messages.
#ifndef CABLEWAY_ROUTING_TEXT_NODE_NAME_H_
#define CABLEWAY_ROUTING_TEXT_NODE_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cableway::routing {

inline constexpr std::size_t kMaxNodeNameBytes = 63;

// Whether `name` is 1 to `max_length` characters of [A-Za-z0-9._-].
bool is_valid_name(std::string_view name, std::size_t max_length);

// A total order in which runs of digits compare as numbers (n2 before n10) and all else bytewise.
bool natural_less(std::string_view left, std::string_view right);

// Quotes untrusted text for a message: unprintable bytes escaped, cut after 80 bytes.
std::string in_quotes(std::string_view text);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_NODE_NAME_H_
