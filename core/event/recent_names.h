// The names of the nodes that one problem is about. A name expires unless it is noted again, as a problem does
// (problems.h). Untrusted peers can invent names, so their number is bounded.
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
  static constexpr std::size_t kMax = 64;      // text() reports only that there are more
  static constexpr std::size_t kMaxNamed = 8;  // in text(), which counts the others

  // Also removes names that have not been noted for Problems::kLasts.
  void note(const std::string& name, Instant now);

  // "n1", "n1 and n2", "n1, n2, .. and 3 more", "n1, n2, .. and 56 or more others", in the order of the names.
  // Precondition: at least one is noted.
  std::string text() const;
  // The name if there is only one; else "".
  std::string only() const { return noted_.size() == 1 ? noted_.begin()->first : ""; }

 private:
  std::map<std::string, Instant> noted_;  // with the time of its last note
  Instant more_;                          // the last note of a name beyond kMax
  bool has_more_ = false;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_RECENT_NAMES_H_
