// Chooses the plug of a host that each of its cables is plugged into.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLUG_CHOICE_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLUG_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cableway::cli {

// A cable between two hosts, by their numbers.
struct HostPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::string plug_a;  // as the topology names it, or empty
  std::string plug_b;
};

struct ChosenPlugs {
  std::size_t at_a = 0;  // places in the host's list of plugs
  std::size_t at_b = 0;
};

// `plug_counts`: how many plugs each host has. Precondition: no host has more cables than plugs.
//   - Where every end names a plug, "p0", "p1", .. are the host's plugs of that number, if it has as many; other names
//     take the host's plugs in their natural order.
//   - Else, where no host has more than two cables, each line and ring is walked from its first host: a cable leaves
//     the first plug of a host and enters the second plug of the next.
//   - Else a host's cables take its plugs in their order.
std::vector<ChosenPlugs> choose_plugs(const std::vector<HostPair>& cables, const std::vector<std::size_t>& plug_counts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_PLUG_CHOICE_H_
