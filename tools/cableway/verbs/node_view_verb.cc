#include "tools/cableway/verbs/node_view_verb.h"

#include <utility>

#include "tools/cableway/node/node_query.h"

namespace cableway::cli {
namespace {

class NodeViewVerb final : public Verb {
 public:
  explicit NodeViewVerb(ShownView shown) : shown_(std::move(shown)) {}

  Command describe() override {
    return {
        .name = shown_.name, .summary = shown_.summary, .examples = shown_.examples, .arguments = {json_flag(json_)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<NodeView> answer =
        ask_node(invocation.settings, shown_.view, invocation.surroundings.node_deadline);
    if (!answer.ok()) return answer.status();
    return as_answer((json_ ? shown_.as_json : shown_.as_text)(answer->text));
  }

 private:
  const ShownView shown_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> node_view_verb(ShownView shown) {
  return std::make_unique<NodeViewVerb>(std::move(shown));
}

}  // namespace cableway::cli
