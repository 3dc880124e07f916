#include "core/discovery/refused_datagram.h"

#include "absl/strings/str_cat.h"

namespace cableway {

RefusedDatagram explain_refusal(ControlFault fault, const ControlDatagram& datagram, const std::string& cluster,
                                const std::string& interface, const routing::PortAddress& from) {
  const EventField address{"address", routing::to_text(from)};
  const std::string who = absl::StrCat("a node at ", address.value, " on port ", interface);
  if (fault == ControlFault::kVersion) {
    return {EventCode::kVersionDiffers, 0,
            absl::StrCat(who, " uses another version of the protocol than ", int{kControlVersion},
                         ": install the same Cableway on both"),
            address};
  }
  if (fault == ControlFault::kCluster) {
    return {EventCode::kClusterDiffers, datagram.sender.value,
            absl::StrCat(who, " is of another cluster than ", cluster,
                         ": give both the same CABLEWAY_CLUSTER, if they are to be one"),
            address};
  }
  return {EventCode::kKeyDiffers, datagram.sender.value,
          absl::StrCat(who,
                       " has another key than this node, or only one of them has a key: give every node the"
                       " same CABLEWAY_KEY_FILE"),
          address};
}

}  // namespace cableway
