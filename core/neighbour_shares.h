// Places of a bounded number, shared out among a node's neighbours so that none can take all of them. Half of the
// places are reserved, in equal shares, for the neighbours that are up; a neighbour that needs more takes from the
// other half. All who are no neighbours are one party, which has no reserved share and gets at most as much as one
// neighbour's share. Why: docs/decisions/0028.
//
// One thread at a time.
#ifndef CABLEWAY_CORE_NEIGHBOUR_SHARES_H_
#define CABLEWAY_CORE_NEIGHBOUR_SHARES_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cableway {

// The name of all who are no neighbours, among those who take places.
inline constexpr char kNoNeighbour[] = "";

// "node n0", or what kNoNeighbour stands for.
std::string share_holder_text(const std::string& holder);

// How many places are reserved for each of so many neighbours. 0: there are too few places for that.
std::size_t reserved_share(std::size_t places, std::size_t neighbours);

// Whether `holder` may take another one of `places`, of which `taken` are in use altogether and `taken_by(name)` by one
// holder. `neighbours` are those that are up. A neighbour with less than its reserved share always may, with one
// exception: when another neighbour comes up, all shares become smaller, and its own becomes free only as places of the
// others are given back.
bool may_take(const std::string& holder, std::size_t places, std::size_t taken, const std::set<std::string>& neighbours,
              const std::function<std::size_t(const std::string&)>& taken_by);

// Who holds how many places.
class HeldPlaces {
 public:
  // One place; its end gives it back. Must not outlive the HeldPlaces.
  class Place {
   public:
    Place() = default;
    Place(HeldPlaces& of, std::string holder) : of_(&of), holder_(std::move(holder)) {
      ++of_->held_[holder_], ++of_->all_;
    }
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)), holder_(std::move(other.holder_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(holder_, other.holder_);
      return *this;
    }
    ~Place() {
      if (of_ != nullptr) of_->give_back(holder_);
    }

    const std::string& holder() const { return holder_; }

   private:
    HeldPlaces* of_ = nullptr;
    std::string holder_;
  };

  HeldPlaces() = default;
  HeldPlaces(const HeldPlaces&) = delete;
  HeldPlaces& operator=(const HeldPlaces&) = delete;

  Place take(const std::string& holder) { return {*this, holder}; }
  std::size_t all() const { return all_; }
  // Who holds the most; requires that someone holds a place.
  const std::string& largest() const {
    return std::max_element(held_.begin(), held_.end(),
                            [](const auto& left, const auto& right) { return left.second < right.second; })
        ->first;
  }
  std::size_t of(const std::string& holder) const {
    const auto found = held_.find(holder);
    return found == held_.end() ? 0 : found->second;
  }

 private:
  void give_back(const std::string& holder) {
    const auto found = held_.find(holder);
    if (--found->second == 0) held_.erase(found);
    --all_;
  }

  std::map<std::string, std::size_t> held_;
  std::size_t all_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NEIGHBOUR_SHARES_H_
