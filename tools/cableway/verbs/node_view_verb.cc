#include "tools/cableway/verbs/node_view_verb.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/node/topology_look.h"

namespace cableway::cli {
namespace {

// A document in one line.
std::string as_line(const std::string& json) {
  return nlohmann::ordered_json::parse(json).dump() + "\n";
}

class NodeViewVerb final : public Verb {
 public:
  explicit NodeViewVerb(NodeViewRendering shown) : shown_(std::move(shown)) {}

  Command describe() override {
    Command command{.name = shown_.name,
                    .summary = shown_.summary,
                    .notes = shown_.notes,
                    .examples = shown_.examples,
                    .arguments = {json_flag(json_)}};
    if (shown_.of_all) command.arguments.push_back(all_nodes_flag(all_));
    if (shown_.watchable) {
      command.arguments.push_back(flag(
          "--watch,-w", watch_, "show it again every second until interrupted; with --json, one document per line"));
    }
    return command;
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    if (!watch_) return as_answer(show(invocation));
    const auto show_line = [&]() -> absl::StatusOr<std::string> {
      absl::StatusOr<std::string> text = show(invocation);
      return json_ && text.ok() ? as_line(*text) : text;
    };
    const bool on_terminal = invocation.surroundings.out_is_terminal && !json_;
    return watch_view({show_line, invocation.surroundings.watch_pause, on_terminal}, invocation.out);
  }

 private:
  absl::StatusOr<std::string> show(const Invocation& invocation) {
    if (all_) return show_all(invocation);
    const absl::StatusOr<NodeView> answer =
        ask_node(invocation.settings, shown_.view, invocation.surroundings.node_deadline);
    if (!answer.ok()) return answer.status();
    if (json_) return shown_.as_json(answer->text);
    return shown_.as_text(answer->text, look_of(invocation)->look());
  }

  std::unique_ptr<const TopologyLook> look_of(const Invocation& invocation) const {
    if (!shown_.names_cables) return std::make_unique<const TopologyLook>(invocation.look(), std::nullopt);
    return look_with_names(invocation.settings, invocation.surroundings.node_deadline, invocation.look());
  }

  absl::StatusOr<std::string> show_all(const Invocation& invocation) {
    absl::StatusOr<AllNodesView> answer =
        ask_all_nodes(invocation.settings, shown_.of_all->view, invocation.surroundings.node_deadline);
    if (!answer.ok()) return answer.status();
    NodeDocuments documents = read_documents(std::move(answer->answers), answer->unheard);
    if (json_) return shown_.of_all->as_json(std::move(documents)).dump(2) + "\n";
    std::string text = shown_.of_all->as_text(documents, before_ ? &*before_ : nullptr, look_of(invocation)->look());
    before_ = std::move(documents);
    return text;
  }

  const NodeViewRendering shown_;
  std::optional<NodeDocuments> before_;
  bool all_ = false;
  bool json_ = false;
  bool watch_ = false;
};

}  // namespace

absl::Status watch_view(const Watch& watch, std::ostream& out) {
  // ECMA-48: the cursor to the top left, then everything below erased.
  constexpr std::string_view kToTop = "\x1b[H\x1b[J";
  while (true) {
    const absl::StatusOr<std::string> text = watch.show();
    if (!text.ok()) return text.status();
    out << (watch.on_terminal ? kToTop : "") << *text << std::flush;
    if (!out) return absl::UnavailableError("cannot write to standard output");
    watch.pause();
  }
}

std::unique_ptr<Verb> node_view_verb(NodeViewRendering shown) {
  return std::make_unique<NodeViewVerb>(std::move(shown));
}

}  // namespace cableway::cli
