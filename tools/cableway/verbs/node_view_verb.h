// A verb that shows one view of the node here (core/view/view_table.h), as text or as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

struct ShownView {
  // Makes the output of the node's answer. InvalidArgument: the answer is not that view.
  using Render = absl::StatusOr<std::string> (*)(const std::string& answer);

  std::string name;  // the verb's
  std::string summary;
  std::vector<std::string> examples;
  std::string view;  // the node's
  Render as_text;
  Render as_json;
};

std::unique_ptr<Verb> node_view_verb(ShownView shown);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_NODE_VIEW_VERB_H_
