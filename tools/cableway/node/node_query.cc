#include "tools/cableway/node/node_query.h"

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/session_client.h"
#include "core/linux/session/session_names.h"

namespace cableway::cli {
namespace {

std::string place_of(const Settings& settings) {
  return absl::StrCat("cluster \"", settings.cluster, "\", runtime dir \"", settings.runtime_dir, "\"");
}

absl::Status no_node(const Settings& settings, const absl::Status& reason) {
  const bool is_held = reason.message() != "no node runs here";
  return absl::NotFoundError(
      absl::StrCat(is_held ? reason.message() : "no node runs in this network namespace", " (", place_of(settings),
                   ").\nStart one: systemctl start cablewayd, or  CABLEWAY_PORTS=eth1,.. cablewayd\n"
                   "To query a node in another container or namespace, run cableway there; for a node with another "
                   "CABLEWAY_CLUSTER or CABLEWAY_RUNTIME_DIR, set the same here."));
}

absl::Status no_answer(const Settings& settings, std::chrono::milliseconds deadline) {
  return absl::DeadlineExceededError(
      absl::StrCat("the node here (", place_of(settings), ") did not answer within ",
                   std::chrono::duration<double>(deadline).count(),
                   " s. Its cablewayd may be stopped or overloaded: check its log, or restart it."));
}

struct NodeReply {
  Welcome node;
  SessionMessage reply;
};

absl::Status unexpected() {
  return absl::InternalError(
      "the node's answer does not match the request: install the same Cableway version for both");
}

// Sends Hello, then the request. Runs on the thread of the io_context.
class Query {
 public:
  Query(host::SessionClient& session, SessionMessage request) : session_(session), request_(std::move(request)) {}

  void start() {
    session_.request(Hello{kSessionVersion, "cableway"},
                     [this](absl::StatusOr<SessionMessage> reply) { on_welcome(std::move(reply)); });
  }

  const std::optional<absl::StatusOr<NodeReply>>& result() const { return result_; }

 private:
  void on_welcome(absl::StatusOr<SessionMessage> reply) {
    if (absl::IsUnavailable(reply.status())) {
      return end(
          absl::UnavailableError("the node closed the session immediately: it is ending, or out of descriptors. Try "
                                 "again, and see its log"));
    }
    if (!reply.ok()) return end(reply.status());
    const Welcome* welcome = std::get_if<Welcome>(&*reply);
    if (welcome == nullptr) return end(unexpected());
    node_ = *welcome;
    session_.request(request_, [this](absl::StatusOr<SessionMessage> answer) {
      if (!answer.ok()) return end(answer.status());
      end(NodeReply{node_, *std::move(answer)});
    });
  }

  // The first result counts: closing the session fails the pending requests.
  void end(absl::StatusOr<NodeReply> result) {
    if (result_) return;
    result_ = std::move(result);
    session_.close();
  }

  host::SessionClient& session_;
  const SessionMessage request_;
  Welcome node_;
  std::optional<absl::StatusOr<NodeReply>> result_;
};

absl::StatusOr<NodeReply> ask(const Settings& settings, SessionMessage request, std::chrono::milliseconds deadline) {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings);
  if (!names.ok()) return names.status();
  boost::asio::io_context io;
  auto session = host::SessionClient::connect(io, *names);
  if (absl::IsNotFound(session.status())) return no_node(settings, session.status());
  if (!session.ok()) return session.status();
  Query query(**session, std::move(request));
  query.start();
  io.run_for(deadline);
  std::optional<absl::StatusOr<NodeReply>> result = query.result();
  if (!result) {
    (*session)->close();
    result = no_answer(settings, deadline);
  }
  // Cancelled handlers still refer to the query.
  io.restart();
  io.poll();
  return *std::move(result);
}

}  // namespace

absl::StatusOr<NodeView> ask_node(const Settings& settings, const std::string& view,
                                  std::chrono::milliseconds deadline) {
  absl::StatusOr<NodeReply> reply = ask(settings, ViewRequest{view}, deadline);
  if (!reply.ok()) return reply.status();
  auto* answer = std::get_if<ViewReply>(&reply->reply);
  if (answer == nullptr) return unexpected();
  if (!answer->error.empty()) return absl::FailedPreconditionError(absl::StrCat("the node reports: ", answer->error));
  return NodeView{std::move(reply->node), std::move(answer->text)};
}

absl::StatusOr<CableProbeReply> test_cables(const Settings& settings, const CableProbeRequest& request,
                                            std::chrono::milliseconds deadline) {
  absl::StatusOr<NodeReply> reply = ask(settings, request, deadline);
  if (!reply.ok()) return reply.status();
  auto* answer = std::get_if<CableProbeReply>(&reply->reply);
  if (answer == nullptr) return unexpected();
  if (!answer->error.empty()) return absl::FailedPreconditionError(answer->error);
  return *std::move(answer);
}

absl::Status request_drain(const Settings& settings, const DrainRequest& request, std::chrono::milliseconds deadline) {
  const absl::StatusOr<NodeReply> reply = ask(settings, request, deadline);
  if (!reply.ok()) return reply.status();
  const auto* answer = std::get_if<DrainReply>(&reply->reply);
  if (answer == nullptr) return unexpected();
  return answer->error.empty() ? absl::OkStatus() : absl::FailedPreconditionError(answer->error);
}

}  // namespace cableway::cli
