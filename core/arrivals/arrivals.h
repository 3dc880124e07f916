// The connections to a listener whose set-up has not arrived yet. Anyone who reaches the listener may open some, so
// their number is bounded by closing the oldest, never by refusing a new one: a peer that wants a circuit has sent its
// first bytes with the connection, and completes its set-up a round trip later. Why: docs/decisions/0028.
//
//   a connection -> the share of its party; if that is full, the oldest there that has sent nothing is closed, else the
//   oldest -> its set-up or probe (hop_reception.h), or its end
//
// A party is the group to which the caller assigns a connection: a neighbour at one port, all other peers, or all that
// come to one address. When there are too many altogether, the largest party of the port with most of them gives way: a
// neighbour can be many on its cable. One thread: the clock's.
#ifndef CABLEWAY_CORE_ARRIVALS_ARRIVALS_H_
#define CABLEWAY_CORE_ARRIVALS_ARRIVALS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "core/arrivals/idle_rate.h"
#include "core/circuit/hop_reception.h"
#include "core/clock.h"
#include "core/crypto/setup_keys.h"
#include "core/neighbour_shares.h"

namespace cableway {

class Arrivals {
 public:
  struct Limits {
    std::chrono::milliseconds setup = kSetupLimit;  // for a complete set-up
    // For the first bytes, once half of the party's share is taken. Before that a peer on a busy host gets all of the
    // time for a set-up: nothing is scarce.
    std::chrono::milliseconds silent{500};
    std::size_t each = 256;  // connections of one party
    std::size_t all = 1024;
  };
  // What a connection brought, or why it has ended. `peer` is for display. Never called from inside take().
  using Opening = absl::StatusOr<std::variant<ArrivedSetup, ArrivedProbe>>;
  using Done = std::function<void(const std::string& peer, Opening opening)>;

  // The clock outlives it. Neither function may destroy it. `flooded`: see idle_rate.h.
  Arrivals(Clock& clock, const Limits& limits, Done done, IdleRate::Report flooded)
      : clock_(clock), limits_(limits), done_(std::move(done)), idle_(clock, std::move(flooded)) {}
  // Closes all without an answer.
  ~Arrivals() = default;
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // `listener`: the address that it arrived at, for close().
  void take(std::unique_ptr<SetupConnection> connection, const std::string& listener, const ShareHolder& party,
            const SetupKeys& keys, const Challenge& challenge);
  // Closes those that have arrived at this address, without an answer.
  void close(const std::string& listener);
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Waiting(Clock& clock, std::unique_ptr<SetupConnection> connection, IdleRate::From source, HeldPlaces::Place place,
            const SetupKeys& keys, const Challenge& challenge)
        : reception(clock, std::move(connection), keys, challenge), from(std::move(source)), held(std::move(place)) {}

    HopReception reception;
    const IdleRate::From from;
    const HeldPlaces::Place held;
    std::unique_ptr<Timer> silence;
  };
  using Place = std::list<Waiting>::iterator;

  void make_room(const ShareHolder& party);
  void close_oldest(const ShareHolder& party);
  void end(Place place, const std::string& peer, Opening opening);
  void check_silence(Place place);
  void drop(Place place);

  Clock& clock_;
  const Limits limits_;
  const Done done_;
  IdleRate idle_;
  HeldPlaces held_;
  std::list<Waiting> waiting_;  // oldest first
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_ARRIVALS_ARRIVALS_H_
