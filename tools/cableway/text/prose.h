// Prose in lines that fit a terminal.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_PROSE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_PROSE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cableway::cli {

// What prose takes of a terminal at most, and where the terminal is narrower, at least.
inline constexpr std::size_t kProseColumns = 120;
inline constexpr std::size_t kLeastProseColumns = 60;

// `terminal`: its columns, 0 where they are not known.
std::size_t prose_columns(std::size_t terminal);

// Lines that begin with `lead`, then with as many spaces, each with its end. They are broken between words only;
// a command to be copied, such as "ip link set eth1 up", is one word, and so is a number with its unit, "0.1 s". A new
// line of `text` is one here. Both may have colours of Paint.
//
//     prose_lines("  problem     ", "no cable is up [NO_CABLE]", 120)
std::string prose_lines(std::string_view lead, std::string_view text, std::size_t columns = kProseColumns);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_PROSE_H_
