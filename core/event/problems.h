// A node's problems, each for as long as it is noted again and again. Untrusted peers can cause some of them, so their
// number is bounded, in all and for each code of a port: many of one kind hide no other.
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_EVENT_PROBLEMS_H_
#define CABLEWAY_CORE_EVENT_PROBLEMS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/event/event_code.h"

namespace cableway {

// A problem that an operator should fix.
struct Problem {
  EventCode code = EventCode::kPortUnusable;
  std::string interface;  // "": about no interface
  std::string text;
  Instant since;
  Instant last_seen;
  std::string neighbour = "";  // the node at the other end; "": about none
};

class Problems {
 public:
  static constexpr std::size_t kMax = 256;
  static constexpr std::size_t kMaxOfOneKind = 16;  // of one port and code
  static constexpr std::chrono::seconds kLasts{5};  // after it was last noted

  struct Key {
    std::uint32_t port = 0;
    EventCode code = EventCode::kPortUnusable;
    std::uint64_t about = 0;  // tells the problems of one port and code apart
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Returns the problem if it is new, so that it is reported once.
  std::optional<Problem> note(const Key& key, const std::string& interface, std::string text, Instant now,
                              std::string neighbour = "");
  void clear(const Key& key) { problems_.erase(key); }
  void clear_if(const std::function<bool(std::uint32_t port)>& gone);
  // Drops those that were not noted for kLasts.
  void expire(Instant now);
  std::vector<Problem> all() const;

 private:
  std::map<Key, Problem> problems_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_PROBLEMS_H_
