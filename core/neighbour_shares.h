// Places of a bounded number, shared out among a node's ports and the neighbours there so that none can take all of
// them. Half of the places are reserved: in equal shares for the node's own ports that have neighbours which are up,
// and a port's share in equal parts for these neighbours. Ports come first because one node can pose as many on its
// cable. A neighbour that needs more takes from the other half. All who are no neighbours are one party, which has no
// reserved share and gets at most as much as one port's share. Why: docs/decisions/0028.
//
// One thread at a time.
#ifndef CABLEWAY_CORE_NEIGHBOUR_SHARES_H_
#define CABLEWAY_CORE_NEIGHBOUR_SHARES_H_

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cableway {

// Who takes places: a neighbour at one of this node's ports. A node that is reached over two ports is two of them.
// Without a neighbour's name: all who are none, or of those the ones at that port.
struct ShareHolder {
  std::string port;       // this node's; its name
  std::string neighbour;  // its node's name

  friend auto operator<=>(const ShareHolder&, const ShareHolder&) = default;
};

// "node n0", or what a holder without a name stands for.
std::string share_holder_text(const ShareHolder& holder);

// Who holds how many places.
class HeldPlaces {
 public:
  // One place; its end gives it back. Must not outlive the HeldPlaces.
  class Place {
   public:
    Place() = default;
    Place(HeldPlaces& of, ShareHolder holder);
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)), holder_(std::move(other.holder_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(holder_, other.holder_);
      return *this;
    }
    ~Place() {
      if (of_ != nullptr) of_->give_back(holder_);
    }

    const ShareHolder& holder() const { return holder_; }

   private:
    HeldPlaces* of_ = nullptr;
    ShareHolder holder_;
  };

  HeldPlaces() = default;
  HeldPlaces(const HeldPlaces&) = delete;
  HeldPlaces& operator=(const HeldPlaces&) = delete;

  Place take(const ShareHolder& holder) { return {*this, holder}; }
  std::size_t all() const { return all_; }
  std::size_t of(const ShareHolder& holder) const;
  // Of all who are or were at that port.
  std::size_t at(const std::string& port) const;
  // Who holds most of those at the port where most are held; requires that someone holds a place.
  const ShareHolder& largest() const;

 private:
  void give_back(const ShareHolder& holder);

  std::map<ShareHolder, std::size_t> of_;
  std::map<std::string, std::size_t> at_;
  std::size_t all_ = 0;
};

// How many places are reserved for each of so many ports. 0: there are too few places for that.
std::size_t reserved_share(std::size_t places, std::size_t ports);

// Whether `holder` may take another one of `places`, of which `taken` are in use altogether and `held` tells by whom.
// `neighbours` are those that are up. A neighbour with less than its reserved part always may while its port has less
// than its share, with one exception: when a port gets its first neighbour, all shares become smaller, and its own
// becomes free only as places of the others are given back.
bool may_take(const ShareHolder& holder, std::size_t places, std::size_t taken, const std::set<ShareHolder>& neighbours,
              std::initializer_list<const HeldPlaces*> held);

}  // namespace cableway

#endif  // CABLEWAY_CORE_NEIGHBOUR_SHARES_H_
