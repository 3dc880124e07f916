#include "core/cluster_view/other_ports.h"

#include <utility>

#include "routing/text/json_schema.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kView[] = "ports";
constexpr int kMaxDepth = 6;  // of the members that are read: 3

// nullopt: not as documented.
std::optional<Json> parsed(const std::string& document) {
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < kMaxDepth; };
  Json json = Json::parse(document, is_shallow, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

bool is_count(const Json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_number_unsigned();
}

Json count_or_null(const Json& port, const char* member) {
  return is_count(port, member) ? port.at(member) : Json(nullptr);
}

// Null: the node does not know them.
Json counts_of(const Json& port) {
  if (!is_count(port, "received_bytes") || !is_count(port, "sent_bytes")) return nullptr;
  return {{"received_bytes", port.at("received_bytes")},
          {"sent_bytes", port.at("sent_bytes")},
          {"rdma_received_bytes", count_or_null(port, "rdma_received_bytes")},
          {"rdma_sent_bytes", count_or_null(port, "rdma_sent_bytes")}};
}

Json ports_of(const Json& document) {
  Json ports = Json::array();
  const auto found = document.find("ports");
  if (found == document.end() || !found->is_array()) return ports;
  for (const Json& port : *found) {
    const auto interface = port.is_object() ? port.find("interface") : port.end();
    if (!port.is_object() || interface == port.end() || !interface->is_string()) continue;
    Json counts = counts_of(port);
    if (!counts.is_null()) ports.push_back({{"interface", *interface}, {"counts", std::move(counts)}});
    if (ports.size() == OtherPorts::kMaxPorts) break;
  }
  return ports;
}

std::string text_of(const Json& nodes) {
  const Json document = {{routing::kSchemaMember, routing::kJsonSchema}, {"nodes", nodes}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

OtherPorts::OtherPorts(Clock& clock, std::string own, Ask ask)
    : clock_(clock), own_(std::move(own)), ask_(std::move(ask)), shown_(text_of(Json::array())) {}

std::string OtherPorts::json() {
  const bool is_due = !ended_ || clock_.now() - *ended_ >= kPause;
  if (!asks_ && is_due) {
    asks_ = true;
    ask({0, kView});
  }
  return shown_;
}

void OtherPorts::ask(const ClusterViewRequest& request) {
  ask_(request, [this, life = std::weak_ptr<char>(life_)](const ClusterViewReply& reply) {
    if (!life.expired()) have(reply);
  });
}

void OtherPorts::have(const ClusterViewReply& reply) {
  for (const NodeAnswer& answer : reply.answers) take(answer);
  if (reply.error.empty() && !reply.done) return ask({reply.round, ""});
  asks_ = false;
  ended_ = clock_.now();
  bytes_ = 0;
  const Json nodes = std::exchange(coming_, Json::array());
  if (reply.error.empty()) shown_ = text_of(nodes);
}

void OtherPorts::take(const NodeAnswer& answer) {
  if (answer.why != NoView::kNone || answer.node == own_ || answer.document.size() > kMaxDocumentBytes) return;
  bytes_ += answer.document.size();
  if (bytes_ > kMaxRoundBytes) return;
  const std::optional<Json> document = parsed(answer.document);
  if (!document || !is_count(*document, "uptime_ms")) return;
  const auto node = document->find("node");
  if (node == document->end() || *node != answer.node) return;
  coming_.push_back({{"node", answer.node}, {"at_ms", document->at("uptime_ms")}, {"ports", ports_of(*document)}});
}

}  // namespace cableway
