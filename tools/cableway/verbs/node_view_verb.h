// A verb that shows one view of the node here (core/view/view_table.h), as text or as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

// How `--all` shows the view of all nodes (tools/cableway/all_nodes).
struct ShownOfAll {
  std::string view;  // the nodes', as in core/view/shown_view.h
  // `before`: what --watch has shown last; null: nothing yet.
  std::string (*as_text)(NodeDocuments& documents, const NodeDocuments* before, const Look& look);
  Json (*as_json)(NodeDocuments documents);
};

struct NodeViewRendering {
  // Makes the output of the node's answer. InvalidArgument: the answer is not that view.
  using Render = absl::StatusOr<std::string> (*)(const std::string& answer);
  using RenderText = absl::StatusOr<std::string> (*)(const std::string& answer, const Look& look);

  std::string name;  // the verb's
  std::string summary;
  std::string notes = {};
  std::vector<std::string> examples;
  std::string view;  // the node's
  RenderText as_text;
  Render as_json;
  bool names_cables = false;              // by their short names, for which the text needs the topology
  bool watchable = false;                 // has --watch, which shows the view again every second
  std::optional<ShownOfAll> of_all = {};  // has --all
};

std::unique_ptr<Verb> node_view_verb(NodeViewRendering shown);

// What `--watch` does until it is interrupted, or the node or `out` fails, which it returns: writes the view after each
// pause. On a terminal each time at the top of an empty screen; as JSON one document a line.
struct Watch {
  std::function<absl::StatusOr<std::string>()> show;
  std::function<void()> pause;
  bool on_terminal = false;
};
absl::Status watch_view(const Watch& watch, std::ostream& out);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_
