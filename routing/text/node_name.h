// Names of nodes and cables: validity, ordering, and quoting in messages.
#ifndef CABLEWAY_ROUTING_TEXT_NODE_NAME_H_
#define CABLEWAY_ROUTING_TEXT_NODE_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cableway::routing {

inline constexpr std::size_t kMaxNodeNameBytes = 63;

// Whether `name` is 1 to `max_length` characters of [A-Za-z0-9._-], the first of which is neither '.' nor '-': names
// become names of files and arguments of commands, where "..", ".x" and "-rf" mean something else.
bool is_valid_name(std::string_view name, std::size_t max_length);

// What a message says after the quoted name: "is not valid; expected ..", "begins with \"-\"; expected ..".
// Precondition: the name is not valid.
std::string name_fault(std::string_view name, std::size_t max_length);

// A total order in which runs of digits compare as numbers (n2 before n10) and all else bytewise.
bool natural_less(std::string_view left, std::string_view right);

// The bytes of untrusted text that a message shows.
inline constexpr std::size_t kMaxShownText = 80;

// Quotes untrusted text for a message: quotes, backslashes and unprintable bytes escaped, cut after `most` bytes. So
// the text cannot pass for a part of the message, or for another line of a log.
std::string in_quotes(std::string_view text, std::size_t most = kMaxShownText);

// The same without quotes and without a cut, for names of files in front of a line's number: "a\nb.toml:3: ..".
// Printable text stays as it is, but for backslashes.
std::string escaped(std::string_view text);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_NODE_NAME_H_
