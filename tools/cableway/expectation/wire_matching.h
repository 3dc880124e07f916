// Explains wires that are missing and wires that are extra by the fewest changes of plugs.
//
// Jacks, missing wires and extra wires make a graph in which paths alternate. A closed path of two missing and two
// extra wires is an exchange that one swap of two ends fixes; a missing wire beside an extra one is a wire of which one
// end is in a wrong jack.
//
//     missing a-b, c-d; extra b-c, d-a:      swap the ends in a and c, or those in b and d
//     missing a-b; extra b-c:                the end in c belongs to a
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRE_MATCHING_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRE_MATCHING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace cableway::cli {

using JackPair = std::pair<std::size_t, std::size_t>;  // numbers of jacks

struct WireExchange {
  std::size_t missing[2];  // indices
  std::size_t extra[2];
  JackPair swaps[2];  // either of the two swaps fixes it
};

struct WireMove {
  std::size_t missing = 0;  // indices
  std::size_t extra = 0;
  std::size_t stays = 0;  // jacks: of the end that is right, where the other end is, where it belongs
  std::size_t is_in = 0;
  std::size_t goes_to = 0;
};

struct WireMatching {
  std::vector<WireExchange> exchanges;
  std::vector<WireMove> moves;
  std::vector<std::size_t> missing;  // indices of the others
  std::vector<std::size_t> extra;
};

// `jacks`: how many there are. A jack with several missing, or several extra wires is on a switch: its wires match
// nothing. Pure. O(wires + jacks).
WireMatching match_wires(std::size_t jacks, const std::vector<JackPair>& missing, const std::vector<JackPair>& extra);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_WIRE_MATCHING_H_
