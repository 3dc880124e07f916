// The views that the nodes of the cluster have shown, read from what they sent: any of them may be of another version,
// or lie. What cannot be read is a fault of that node alone.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_NODE_DOCUMENTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_NODE_DOCUMENTS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/session/cluster_view_message.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

inline constexpr char kNoPathCause[] = "no path";
inline constexpr char kTimedOutCause[] = "timed out";
inline constexpr char kRefusedCause[] = "refused";
inline constexpr char kOtherVersionCause[] = "other version";
inline constexpr char kNoRoomCause[] = "no room";

// A node without a document.
struct MissingNode {
  std::string node;
  std::string cause;   // "no path", "timed out", "other version", "no room", "refused", "unreadable"
  std::string what;    // the one reason
  std::string advice;  // what to do next
};

struct NodeDocument {
  std::string node;
  Json document;  // texts are printable ASCII
};

struct NodeDocuments {
  std::vector<NodeDocument> shown;  // in the natural order of their names, as the others
  std::vector<MissingNode> missing;
  std::size_t unheard = 0;  // further nodes, of which nothing had come when the time was over
};

// All documents together have at most this many bytes; those that come later are unreadable.
inline constexpr std::size_t kMaxDocumentsBytes = 64U << 20;

// Sorts the answers. A document counts only if it is an object of bounded size that names its node.
NodeDocuments read_documents(std::vector<NodeAnswer> answers, std::size_t unheard = 0);

// Takes out those that lack a member of `view`, or have one of another type: `read` throws Json::exception for them.
template <typename Read>
void read_each(NodeDocuments& documents, Read read);

// Names why a node's document cannot be read.
MissingNode unreadable(const std::string& node, const std::string& why);

// Below a table of those that have answered; "" if all have.
std::string missing_text(const NodeDocuments& documents, const Look& look = {});

// {"unheard", "nodes": {name: document, or {"error": {"cause", "what", "advice"}}}}, after the schema.
Json documents_json(const NodeDocuments& documents);

template <typename Read>
void read_each(NodeDocuments& documents, Read read) {
  std::vector<NodeDocument> kept;
  for (NodeDocument& each : documents.shown) {
    try {
      read(each);
      kept.push_back(std::move(each));
    } catch (const Json::exception& fault) {
      documents.missing.push_back(unreadable(each.node, fault.what()));
    }
  }
  documents.shown = std::move(kept);
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_NODE_DOCUMENTS_H_
