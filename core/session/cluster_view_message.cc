#include "core/session/cluster_view_message.h"

#include "core/flow/frame.h"
#include "core/printable.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

// Replies repeat a name that is not known.
constexpr std::size_t kMaxRequestedView = 64;
constexpr std::size_t kMaxError = 4096;

NodeAnswer get_answer(WireReader& reader) {
  NodeAnswer answer;
  answer.node = reader.get_text(routing::kMaxNodeNameBytes);
  const auto why = reader.get<std::uint8_t>();
  if (why >= kNoViewKinds) reader.reject();
  answer.why = static_cast<NoView>(why);
  answer.error = reader.get_printable(kMaxNoViewText);
  answer.document = reader.get_long_text();
  const bool is_answered = answer.why == NoView::kNone;
  if (!routing::is_valid_name(answer.node, routing::kMaxNodeNameBytes) || answer.error.empty() != is_answered ||
      (!is_answered && !answer.document.empty()) || answer.document.size() > kMaxDocumentBytes) {
    reader.reject();
  }
  return answer;
}

}  // namespace

void put_cluster_view_request(WireWriter& writer, const ClusterViewRequest& message) {
  writer.put(message.round);
  writer.put_text(message.view);
}

void put_cluster_view_reply(WireWriter& writer, const ClusterViewReply& message) {
  writer.put_text(message.error);
  writer.put(message.round);
  writer.put(message.nodes);
  writer.put(static_cast<std::uint8_t>(message.done));
  writer.put(static_cast<std::uint16_t>(message.answers.size()));
  for (const NodeAnswer& answer : message.answers) {
    writer.put_text(answer.node);
    writer.put(static_cast<std::uint8_t>(answer.why));
    writer.put_text(printable(answer.error, kMaxNoViewText));
    writer.put_long_text(answer.document);
  }
}

ClusterViewRequest get_cluster_view_request(WireReader& reader) {
  return {reader.get<std::uint64_t>(), reader.get_text(kMaxRequestedView)};
}

ClusterViewReply get_cluster_view_reply(WireReader& reader) {
  ClusterViewReply reply;
  reply.error = reader.get_text(kMaxError);
  reply.round = reader.get<std::uint64_t>();
  reply.nodes = reader.get<std::uint32_t>();
  reply.done = reader.get_flag();
  const std::size_t answers = reader.get<std::uint16_t>();
  for (std::size_t i = 0; i < answers && reader.ok(); ++i) reply.answers.push_back(get_answer(reader));
  return reply;
}

}  // namespace cableway
