#include "core/linux/node/key_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/files/key_reader.h"

namespace cableway::host {
namespace {

std::string keys_text(const std::vector<std::string>& fingerprints) {
  return fingerprints.size() == 1
             ? absl::StrCat("key ", fingerprints.front(), " seals, and no other is accepted")
             : absl::StrCat("key ", fingerprints.front(), " seals, and ", fingerprints.back(), " is accepted, too");
}

}  // namespace

absl::StatusOr<std::unique_ptr<KeyService>> KeyService::open(const std::string& path) {
  std::unique_ptr<KeyService> service(new KeyService());
  if (path.empty()) return service;
  absl::StatusOr<KeyRing> keys = read_keys(path);
  if (!keys.ok()) return keys.status();
  service->path_ = path;
  service->seal_ = std::make_unique<KeyedSeal>(*std::move(keys));
  service->last_.keys = service->seal_->keys();
  return service;
}

const DatagramSeal& KeyService::seal() const {
  if (seal_ == nullptr) return no_seal_;
  return *seal_;
}

SetupKeys KeyService::setup_keys() const {
  return seal_ == nullptr ? SetupKeys() : seal_->keys()->setup_keys();
}

std::vector<std::string> KeyService::fingerprints() const {
  return seal_ == nullptr ? std::vector<std::string>() : seal_->keys()->fingerprints();
}

void KeyService::follow(Clock& clock, EventSink& events, std::function<void()> changed) {
  if (seal_ == nullptr) return;
  clock_ = &clock;
  events_ = &events;
  changed_ = std::move(changed);
  look_later();
}

// Reads the file, because timestamps miss a replaced link of a folder, and a second change within one tick.
void KeyService::look_later() {
  next_ = clock_->call_after(kLookEvery, [this] { look(); });
}

void KeyService::look() {
  look_later();
  take(look_at(path_));
}

KeyService::Seen KeyService::look_at(const std::string& path) {
  absl::StatusOr<KeyRing> keys = read_keys(path);
  if (!keys.ok()) return {nullptr, std::string(keys.status().message())};
  return {std::make_shared<const KeyRing>(*std::move(keys)), ""};
}

bool KeyService::is_same(const Seen& left, const Seen& right) {
  if (left.keys == nullptr || right.keys == nullptr) return left.keys == right.keys && left.fault == right.fault;
  return *left.keys == *right.keys;
}

void KeyService::take(Seen seen) {
  const bool has_settled = is_same(seen, last_);
  last_ = std::move(seen);
  if (!has_settled) return;
  if (last_.keys == nullptr) return report(last_.fault);
  if (!problem_.empty()) {
    problem_.clear();
    events_->raise(EventCode::kKeyValid, "the key file can be read and is valid again", {});
  }
  if (*last_.keys != *seal_->keys()) use(last_.keys);
}

void KeyService::report(const std::string& fault) {
  const std::string problem = absl::StrCat(fault, "; this node keeps its keys until the file is valid");
  if (std::exchange(problem_, problem) == problem) return;
  events_->raise(EventCode::kKeyUnreadable, problem, {{"reason", fault}});
}

void KeyService::use(const std::shared_ptr<const KeyRing>& keys) {
  seal_->use(keys);
  const std::vector<std::string> now = keys->fingerprints();
  events_->raise(EventCode::kKeysChanged, absl::StrCat("the key file has changed: ", keys_text(now)),
                 {{"keys", absl::StrJoin(now, ", ")}});
  changed_();
}

}  // namespace cableway::host
