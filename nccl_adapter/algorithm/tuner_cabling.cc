#include "nccl_adapter/algorithm/tuner_cabling.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/settings/settings_table.h"
#include "nccl_adapter/abi/network_name.h"
#include "nccl_adapter/algorithm/algorithm_choice.h"
#include "nccl_adapter/algorithm/tree_sizes.h"

namespace cableway::nccl {
namespace {

// FNV-1a, folded, of all that a choice depends on beside the setting.
constexpr std::uint16_t hash_of_sizes() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  add(kFewestTunedNodes);
  add(kMostTunedNodes);
  for (const TreeSizes& sizes : kTreeSizes) {
    add(static_cast<std::uint64_t>(sizes.cabling));
    add(sizes.nodes);
    add(sizes.from);
    add(sizes.to);
  }
  return static_cast<std::uint16_t>(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

std::string name_of(const TunerMark& mark) {
  const auto names = find_setting("tuner")->choices;  // in the order of TunerSetting
  return mark.cabling < names.size() ? std::string(names[mark.cabling]) : "unknown here";
}

}  // namespace

TunerSetting tuner_cabling(const Settings& settings, bool has_ids, const char* net) {
  if (has_ids) return settings.tuner;
  const bool chooses = settings.origins.contains("tuner") && !names_another_network(net);
  return chooses ? settings.tuner : TunerSetting::kOff;
}

TunerMark tuner_mark(TunerSetting cabling) {
  if (cabling == TunerSetting::kOff) return {};
  return {static_cast<std::uint8_t>(cabling), hash_of_sizes()};
}

absl::Status check_tuner_mark(const TunerMark& own, const TunerMark& peer, const std::string& node) {
  if (own == peer) return absl::OkStatus();
  if (own.cabling == peer.cabling) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the tuner of node ", node,
        " has other sizes than this one's, so ranks would choose different algorithms and hang: install the same "
        "Cableway on all hosts, or set CABLEWAY_TUNER=off on all"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the tuner of node ", node, " is ", name_of(peer), ", this one's ", name_of(own),
                   ", so ranks would choose different algorithms and hang: set CABLEWAY_TUNER to the same value on all "
                   "hosts"));
}

}  // namespace cableway::nccl
