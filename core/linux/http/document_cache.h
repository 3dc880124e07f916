// Documents that all readers share. A document is made at most once a second, and less often if that takes long: at
// most a twentieth of the time goes into all of them, however many readers ask. Meanwhile readers get the earlier one.
#ifndef CABLEWAY_CORE_LINUX_HTTP_DOCUMENT_CACHE_H_
#define CABLEWAY_CORE_LINUX_HTTP_DOCUMENT_CACHE_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cableway::host {

// Null: the document cannot be made.
using Document = std::shared_ptr<const std::string>;

struct MadeDocument {
  Document document;
  std::chrono::nanoseconds cost{0};  // processor time
};

// One thread.
class DocumentCache {
 public:
  using Clock = std::chrono::steady_clock;
  using Receive = std::function<void(const Document&)>;
  // Makes a document, and passes it to the function on the cache's thread, not from inside the call.
  using Make = std::function<void(const std::string& name, std::function<void(MadeDocument)>)>;

  static constexpr std::chrono::seconds kFresh{1};
  static constexpr int kCostShare = 20;  // of the time, at most one part goes into making documents
  static constexpr std::chrono::seconds kForgotten{10};
  static constexpr std::chrono::seconds kStuck{2};

  explicit DocumentCache(Make make) : make_(std::move(make)) {}
  DocumentCache(const DocumentCache&) = delete;
  DocumentCache& operator=(const DocumentCache&) = delete;

  // Calls `receive` at once with a fresh document, or later, from inside one call of a Make's function.
  void get(const std::string& name, Clock::time_point now, Receive receive);
  // Frees documents that nobody has asked for.
  void forget_unused(Clock::time_point now);
  // Whether the node has not answered a request for a document for longer than kStuck.
  bool is_stuck(Clock::time_point now) const;

 private:
  struct Entry {
    Document document;
    Clock::time_point fresh_until;
    Clock::time_point asked;
    Clock::time_point begun;  // to make it
    bool is_made = false;
    bool in_making = false;
    bool is_due = false;  // asked for again, but its turn has not come
    std::vector<Receive> waiting;
  };

  bool has_turn(const Entry& entry, Clock::time_point now) const;
  void made(const std::string& name, const MadeDocument& made);

  const Make make_;
  std::map<std::string, Entry> entries_;
  Clock::time_point spent_until_;  // until then the time for making documents is used up
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_HTTP_DOCUMENT_CACHE_H_
