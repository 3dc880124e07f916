#include "nccl_adapter/process/node_membership.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/node_starter.h"
#include "core/linux/session/session_names.h"

namespace cableway::nccl {
namespace {

// A node waits up to 8 s for a path to appear, and then reports that there is none. A node that is silent for this
// long does not respond any more.
constexpr std::chrono::milliseconds kPathReplyLimit{15000};

absl::StatusOr<PathOffers> paths_in(absl::StatusOr<SessionMessage> reply) {
  if (!reply.ok()) return reply.status();
  PathReply* answer = std::get_if<PathReply>(&*reply);
  if (answer == nullptr) return absl::InternalError("the node returned no path");
  if (!answer->error.empty()) return absl::UnavailableError(answer->error);
  return std::move(answer->paths);
}

}  // namespace

NodeMembership::NodeMembership(ControlThread& control, const Settings& settings, const Log& log, Listener listener)
    : control_(control), settings_(settings), log_(log), listener_(std::move(listener)) {}

absl::StatusOr<Welcome> NodeMembership::join(const std::string& daemon) {
  // An unused node may exit just as this process joins it; then another one is started.
  constexpr int kTries = 3;
  absl::StatusOr<Welcome> joined;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    joined = try_to_join(daemon);
    if (!absl::IsUnavailable(joined.status()) && !absl::IsNotFound(joined.status())) break;
  }
  return joined;
}

absl::StatusOr<Welcome> NodeMembership::try_to_join(const std::string& daemon) {
  absl::Status connected = control_.run_and_wait([this] { return connect(); });
  if (absl::IsNotFound(connected)) {
    log_.info(absl::StrCat(connected.message(), ": starting ", daemon));
    if (absl::Status started = host::start_node(daemon, host::kNodeJoinLimit); !started.ok()) return started;
    connected = control_.run_and_wait([this] { return connect(); });
  }
  if (!connected.ok()) return connected;
  return greet();
}

absl::Status NodeMembership::connect() {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings_);
  if (!names.ok()) return names.status();
  auto session = host::SessionClient::connect(control_.io(), *names);
  if (!session.ok()) return session.status();
  session_ = *std::move(session);
  session_->on_welcome([this](const Welcome& welcome) { take_update(welcome); });
  session_->on_port_stamps(listener_.have_port_stamps);
  session_->on_port_lost(listener_.port_lost);
  session_->on_paths_changed(listener_.paths_changed);
  return absl::OkStatus();
}

absl::StatusOr<Welcome> NodeMembership::greet() {
  auto promise = std::make_shared<std::promise<absl::StatusOr<Welcome>>>();
  std::future<absl::StatusOr<Welcome>> result = promise->get_future();
  boost::asio::post(control_.io(), [this, promise] {
    session_->request(Hello{kSessionVersion, "plugin"}, [this, promise](const absl::StatusOr<SessionMessage>& reply) {
      promise->set_value(greeted(reply));
    });
  });
  if (result.wait_for(host::kNodeJoinLimit) != std::future_status::ready) {
    return absl::DeadlineExceededError("this host's node does not answer: is cablewayd stopped?");
  }
  return result.get();
}

absl::StatusOr<Welcome> NodeMembership::greeted(const absl::StatusOr<SessionMessage>& reply) {
  if (!reply.ok()) return unshared(reply.status());
  const Welcome* welcome = std::get_if<Welcome>(&*reply);
  if (welcome == nullptr) return absl::InternalError("this host's node did not answer Hello with Welcome");
  if (absl::Status status = take(*welcome); !status.ok()) return status;
  reports_.use_session(session_);
  Welcome kept = *welcome;
  kept.setup_keys = {};
  return kept;
}

absl::Status NodeMembership::take(const Welcome& welcome) {
  // A process configured with a key must not run without it because the node was started without a key.
  if (!settings_.key_file.empty() && welcome.setup_keys.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the node running here has no key, but CABLEWAY_KEY_FILE names ", settings_.key_file,
                     " for this process: restart cablewayd with the same CABLEWAY_KEY_FILE"));
  }
  node_ = welcome.node;
  listener_.welcomed(welcome);
  return absl::OkStatus();
}

void NodeMembership::take_update(const Welcome& welcome) {
  const absl::Status status = take(welcome);
  if (status.ok()) return;
  if (!std::exchange(missing_key_logged_, true)) log_.warn(std::string(status.message()));
  session_->close();
}

absl::Status NodeMembership::rejoin_if_ended() {
  if (!session_->ended()) return absl::OkStatus();
  if (!std::exchange(end_reported_, true)) listener_.left();
  if (absl::Status status = connect(); !status.ok()) return status;
  session_->request(Hello{kSessionVersion, "plugin"}, [this](const absl::StatusOr<SessionMessage>& reply) {
    const Welcome* welcome = reply.ok() ? std::get_if<Welcome>(&*reply) : nullptr;
    if (welcome == nullptr) return;
    end_reported_ = false;
    take_update(*welcome);
    reports_.use_session(session_);
    tell_listener();
    // No changes were reported to this process while it had no session.
    listener_.paths_changed();
  });
  return absl::OkStatus();
}

void NodeMembership::request_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most,
                                   bool for_inquiry, HavePaths done) {
  // A restarted node answers the same requests.
  if (absl::Status status = rejoin_if_ended(); !status.ok()) {
    return done(absl::UnavailableError(
        absl::StrCat("node ", node_, " is no longer running (", status.message(), "): restart cablewayd")));
  }
  auto timer = std::make_shared<boost::asio::steady_timer>(control_.io(), kPathReplyLimit);
  timer->async_wait([this](boost::system::error_code stopped) {
    // If the node does not answer, all requests on its session fail, including this one.
    if (!stopped) session_->close();
  });
  session_->request(PathRequest{0, ordinal, static_cast<std::uint8_t>(most), destination, for_inquiry},
                    [done = std::move(done), timer](absl::StatusOr<SessionMessage> reply) {
                      timer->cancel();
                      done(paths_in(std::move(reply)));
                    });
}

void NodeMembership::listens_at(std::uint16_t port) {
  if (std::exchange(listens_at_, port) != port) tell_listener();
}

void NodeMembership::tell_listener() {
  if (listens_at_ != 0) session_->report(ListensAt{listens_at_});
}

void NodeMembership::close() {
  if (session_) session_->close();
}

}  // namespace cableway::nccl
