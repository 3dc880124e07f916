#include "core/arrivals/flood_notes.h"

#include "absl/strings/str_cat.h"
#include "core/neighbour_shares.h"

namespace cableway {

void FloodNotes::note(const IdleRate::From& from, std::size_t per_second, const std::string& interface) {
  const std::string whose = from.party.neighbour.empty()
                                ? "no neighbour's address"
                                : absl::StrCat("an address of ", share_holder_text(from.party));
  text_ = absl::StrCat(per_second, " connections a second to TCP port ", tcp_port_, " at ", from.listener, " (port ",
                       interface.empty() ? "unknown" : interface, ") brought no valid set-up, most of them from ",
                       from.address, ", ", whose,
                       ": they are closed or refused (CONNECTION_REFUSED says why); find the program there");
  seen_ = clock_.now();
  if (raised_.has_value() && seen_ - *raised_ < kEvery) return;
  raised_ = seen_;
  events_.raise(EventCode::kConnectionsFlooded, text_,
                {{"port", interface},
                 {"address", from.address},
                 {"neighbour", from.party.neighbour},
                 {"rate", absl::StrCat(per_second)}});
}

std::string FloodNotes::problem() const {
  return !text_.empty() && clock_.now() - seen_ < kLasts ? text_ : "";
}

}  // namespace cableway
