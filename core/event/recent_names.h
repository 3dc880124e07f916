// The nodes that one problem is about, each for as long as it is noted again and again, as problems are (problems.h).
// Untrusted peers can invent names, so their number is bounded.
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_EVENT_RECENT_NAMES_H_
#define CABLEWAY_CORE_EVENT_RECENT_NAMES_H_

#include <cstddef>
#include <map>
#include <string>

#include "core/clock.h"

namespace cableway {

class RecentNames {
 public:
  static constexpr std::size_t kMax = 64;      // of those beyond, text() tells that there are some
  static constexpr std::size_t kMaxNamed = 8;  // by text(), the others are counted

  // Forgets those that have not been noted for Problems::kLasts.
  void note(const std::string& name, Instant now);

  // "n1", "n1 and n2", "n1, n2, .. and 3 more", "n1, n2, .. and 56 or more others", in the order of the names. At least
  // one is noted.
  std::string text() const;
  // The only one; "": there are several.
  std::string only() const { return noted_.size() == 1 ? noted_.begin()->first : ""; }

 private:
  std::map<std::string, Instant> noted_;  // and when last
  Instant more_;                          // when one beyond kMax was noted last
  bool has_more_ = false;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_RECENT_NAMES_H_
