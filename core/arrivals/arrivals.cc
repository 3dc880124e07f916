#include "core/arrivals/arrivals.h"

#include <algorithm>
#include <iterator>

namespace cableway {
namespace {

// Whether the peer has sent something else than a set-up. One that is late, or closes before, may be on a busy host; if
// there are many of them, the oldest are closed and counted for that.
bool is_invalid(const absl::Status& opening) {
  return !opening.ok() && !absl::IsUnavailable(opening) && !absl::IsDeadlineExceeded(opening);
}

}  // namespace

void Arrivals::take(std::unique_ptr<SetupConnection> connection, const std::string& listener, const ShareHolder& party,
                    const SetupKeys& keys, const Challenge& challenge) {
  make_room(party);
  const std::string peer = connection->other_end();
  IdleRate::From from{listener, connection->other_address(), party};
  waiting_.emplace_back(clock_, std::move(connection), std::move(from), held_.take(party), keys, challenge);
  const Place place = std::prev(waiting_.end());
  place->silence = clock_.call_after(limits_.silent, [this, place] { check_silence(place); });
  place->reception.start(limits_.setup, [this, place, peer](Opening opening) { end(place, peer, std::move(opening)); });
}

void Arrivals::end(Place place, const std::string& peer, Opening opening) {
  if (is_invalid(opening.status())) idle_.note(place->from);
  waiting_.erase(place);
  done_(peer, std::move(opening));
}

void Arrivals::make_room(const ShareHolder& party) {
  if (held_.of(party) >= limits_.each) return close_oldest(party);
  if (waiting_.size() >= limits_.all) close_oldest(held_.largest());
}

void Arrivals::close_oldest(const ShareHolder& party) {
  Place oldest = waiting_.end();
  for (Place each = waiting_.begin(); each != waiting_.end(); ++each) {
    if (each->held.holder() != party) continue;
    if (oldest == waiting_.end()) oldest = each;
    if (each->reception.has_begun()) continue;
    oldest = each;
    break;
  }
  drop(oldest);
}

// In two steps: what has arrived while this process could not run is read in between.
void Arrivals::check_silence(Place place) {
  place->silence = clock_.call_after(Duration{0}, [this, place] {
    const bool scarce = held_.of(place->held.holder()) > limits_.each / 2;
    if (scarce && !place->reception.has_begun()) return drop(place);
    place->silence.reset();
  });
}

// Without an answer, and without waiting for the peer: it costs nothing from here on.
void Arrivals::drop(Place place) {
  idle_.note(place->from);
  place->reception.abandon();
  waiting_.erase(place);
}

void Arrivals::close(const std::string& listener) {
  waiting_.remove_if([&](const Waiting& each) { return each.from.listener == listener; });
}

}  // namespace cableway
