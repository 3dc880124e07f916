#include "tools/cableway/node/node_query.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <functional>
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

// The request that follows an answer; none: it was the last one.
using Next = std::function<std::optional<SessionMessage>(SessionMessage& answer)>;

// Sends Hello, then the requests. Runs on the thread of the io_context.
class Query {
 public:
  Query(host::SessionClient& session, SessionMessage request, Next next)
      : session_(session), request_(std::move(request)), next_(std::move(next)) {}

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
    ask(request_);
  }

  void ask(const SessionMessage& request) {
    session_.request(request, [this](absl::StatusOr<SessionMessage> answer) {
      if (!answer.ok()) return end(answer.status());
      std::optional<SessionMessage> next;
      if (next_) next = next_(*answer);
      if (next) return ask(*next);
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
  const Next next_;
  Welcome node_;
  std::optional<absl::StatusOr<NodeReply>> result_;
};

absl::StatusOr<NodeReply> ask(const Settings& settings, SessionMessage request, std::chrono::milliseconds deadline,
                              Next next = nullptr) {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings);
  if (!names.ok()) return names.status();
  boost::asio::io_context io;
  auto session = host::SessionClient::connect(io, *names);
  if (absl::IsNotFound(session.status())) return no_node(settings, session.status());
  if (!session.ok()) return session.status();
  Query query(**session, std::move(request), std::move(next));
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

absl::StatusOr<AllNodesView> ask_all_nodes(const Settings& settings, const std::string& view,
                                           std::chrono::milliseconds deadline) {
  std::vector<NodeAnswer> answers;
  std::size_t nodes = 0;
  const auto next = [&](SessionMessage& message) -> std::optional<SessionMessage> {
    auto* part = std::get_if<ClusterViewReply>(&message);
    if (part == nullptr || !part->error.empty()) return std::nullopt;
    nodes = part->nodes;
    for (NodeAnswer& answer : part->answers) answers.push_back(std::move(answer));
    if (part->done) return std::nullopt;
    return ClusterViewRequest{part->round, ""};
  };
  absl::StatusOr<NodeReply> reply = ask(settings, ClusterViewRequest{0, view}, deadline, next);
  if (absl::IsDeadlineExceeded(reply.status()) && !answers.empty()) {
    const std::size_t unheard = nodes - std::min(nodes, answers.size());
    return AllNodesView{{}, std::move(answers), unheard};
  }
  if (!reply.ok()) return reply.status();
  const auto* last = std::get_if<ClusterViewReply>(&reply->reply);
  if (last == nullptr) return unexpected();
  if (!last->error.empty()) return absl::FailedPreconditionError(absl::StrCat("the node reports: ", last->error));
  return AllNodesView{std::move(reply->node), std::move(answers)};
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
