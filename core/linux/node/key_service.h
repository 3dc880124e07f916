// The cluster's keys on this host. Reads the key file at the start and follows it from then on, so that a cluster can
// change its key without a restart (docs/security.md, "Changing the key").
#ifndef CABLEWAY_CORE_LINUX_NODE_KEY_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_KEY_SERVICE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/crypto/datagram_seal.h"
#include "core/crypto/keyed_seal.h"
#include "core/crypto/setup_keys.h"
#include "core/event/event_sink.h"

namespace cableway::host {

// One thread: the clock's.
class KeyService {
 public:
  // A changed file is used within two of these intervals. Two consecutive reads must agree, because an editor may be
  // writing it.
  static constexpr std::chrono::milliseconds kLookEvery{1000};

  // `path`: the key file; empty: the cluster has no key, and gets none while the node runs. Errors are those of
  // read_keys().
  static absl::StatusOr<std::unique_ptr<KeyService>> open(const std::string& path);
  KeyService(const KeyService&) = delete;
  KeyService& operator=(const KeyService&) = delete;

  // Any thread may use the seal, which always uses the current keys; it lives as long as this object.
  const DatagramSeal& seal() const;
  SetupKeys setup_keys() const;
  // One per key; the first belongs to the key that seals (KeyRing::fingerprints()).
  std::vector<std::string> fingerprints() const;

  // Reads the file every kLookEvery from now on. Calls `changed` once other keys are in use. A missing or invalid file
  // only sets problem() and raises KEY_UNREADABLE, and KEY_VALID once that is over. Clock and sink must outlive
  // this.
  void follow(Clock& clock, EventSink& events, std::function<void()> changed);
  // Why the file cannot be used now; empty: it can.
  const std::string& problem() const { return problem_; }

 private:
  // What the file had.
  struct Seen {
    std::shared_ptr<const KeyRing> keys;  // null: it cannot be used
    std::string fault;
  };

  KeyService() = default;
  static Seen look_at(const std::string& path);
  static bool is_same(const Seen& left, const Seen& right);
  void look_later();
  void look();
  void take(Seen seen);
  void report(const std::string& fault);
  void use(const std::shared_ptr<const KeyRing>& keys);

  std::string path_;
  NoSeal no_seal_;
  std::unique_ptr<KeyedSeal> seal_;  // null: the cluster has no key
  Seen last_;
  std::string problem_;
  Clock* clock_ = nullptr;
  EventSink* events_ = nullptr;
  std::function<void()> changed_;
  std::unique_ptr<Timer> next_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_KEY_SERVICE_H_
