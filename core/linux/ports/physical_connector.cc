#include "core/linux/ports/physical_connector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/node_id.h"
#include "routing/topology/topology_check.h"

namespace cableway::host {
namespace {

// Converts to the format of plugs in routing/topology/topology_check.h. A text that is too long is shortened and made
// unique by a hash of the whole.
std::string as_plug(std::string text) {
  for (char& c : text) {
    if (!routing::is_valid_part_name({&c, 1})) c = '_';
  }
  if (text.size() <= routing::kMaxPlugLength) return text;
  const std::string hash = absl::StrCat(absl::Hex(routing::fnv1a(text), absl::kZeroPad16));
  return absl::StrCat(text.substr(0, routing::kMaxPlugLength - hash.size()), hash);
}

bool names_a_connector(const std::string& name) {
  return name.size() >= 2 && name[0] == 'p' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "0000:01:00.0". Devices on other buses have names of another form.
bool is_pci_function(const std::string& name) {
  return std::count(name.begin(), name.end(), ':') == 2 && name.size() > 2 && name[name.size() - 2] == '.';
}

// Names for the board, most reliable first.
std::vector<std::string> boards_of(const ConnectorClues& clues) {
  std::vector<std::string> boards;
  if (!clues.phys_switch_id.empty()) boards.push_back(absl::StrCat("switch-", clues.phys_switch_id));
  if (!clues.rdma_board.empty()) boards.push_back(absl::StrCat("board-", clues.rdma_board));
  boards.push_back(absl::StrCat("slot-", clues.pci_function.substr(0, clues.pci_function.size() - 2)));
  return boards;
}

}  // namespace

std::map<PortId, std::string> find_plugs(const std::map<PortId, ConnectorClues>& interfaces) {
  std::map<PortId, std::string> plugs;
  std::map<std::string, std::string> plug_of_clue;
  for (const auto& [id, clues] : interfaces) {
    if (!is_pci_function(clues.pci_function) || !names_a_connector(clues.phys_port_name)) continue;
    std::vector<std::string> names;
    for (const std::string& board : boards_of(clues)) {
      names.push_back(as_plug(absl::StrCat(clues.phys_port_name, ".", board)));
    }
    const std::string plug = names.front();
    for (const std::string& name : names) {
      const auto [known, is_new] = plug_of_clue.emplace(name, plug);
      if (is_new || known->second == plug) continue;
      const std::string other = known->second;
      for (auto& [clue, its_plug] : plug_of_clue) {
        if (its_plug == other) its_plug = plug;
      }
      for (auto& [port, its_plug] : plugs) {
        if (its_plug == other) its_plug = plug;
      }
    }
    plugs[id] = plug;
  }
  return plugs;
}

}  // namespace cableway::host
