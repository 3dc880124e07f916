// The messages about views of all nodes: a process asks its node, which asks the others (core/cluster_view).
//
//   process                            node
//   ClusterViewRequest{0, "status"} -> asks all nodes
//                                   <- ClusterViewReply: the answers that have come, as soon as there is one
//   ClusterViewRequest{round}       -> ..until a reply is `done`
//
// The process asks for each part, so that no more than one part waits to be read by it.
#ifndef CABLEWAY_CORE_SESSION_CLUSTER_VIEW_MESSAGE_H_
#define CABLEWAY_CORE_SESSION_CLUSTER_VIEW_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/wire.h"

namespace cableway {

// Why a node has not shown its view. Sent on the session socket.
enum class NoView : std::uint8_t {
  kNone,          // it has
  kNoPath,        // no path leads there now
  kTimedOut,      // no answer in time
  kOtherVersion,  // it, or a node on the way, does not know views
  kBusy,          // it, or a node on the way, has no room for the request
  kRefused,       // it, or a node on the way, does not run or refuses it
};
inline constexpr std::size_t kNoViewKinds = 6;

// One node's view, or why there is none.
struct NodeAnswer {
  std::string node;
  NoView why = NoView::kNone;
  std::string error;     // printable; empty with kNone
  std::string document;  // JSON, unchecked; empty unless with kNone
  friend bool operator==(const NodeAnswer&, const NodeAnswer&) = default;
};

struct ClusterViewRequest {
  std::uint64_t round = 0;  // 0: asks all nodes; else that of an earlier reply
  std::string view;         // "status", "ports", "flows" or "doctor" (core/view/shown_view.h)
  friend bool operator==(const ClusterViewRequest&, const ClusterViewRequest&) = default;
};

struct ClusterViewReply {
  std::string error;        // not empty: there is no such round, or no room for another; nothing follows
  std::uint64_t round = 0;  // for the next request
  std::uint32_t nodes = 0;  // that are asked
  bool done = true;         // this part is the last one
  std::vector<NodeAnswer> answers;
  friend bool operator==(const ClusterViewReply&, const ClusterViewReply&) = default;
};

// The answers of a reply have at most this many bytes of text, or are a single one.
inline constexpr std::size_t kMaxReplyPart = 512U << 10;
inline constexpr std::size_t kMaxNoViewText = 1024;

// Without the message's type.
void put_cluster_view_request(WireWriter& writer, const ClusterViewRequest& message);
void put_cluster_view_reply(WireWriter& writer, const ClusterViewReply& message);
// A field beyond its bound puts the reader into its error state.
ClusterViewRequest get_cluster_view_request(WireReader& reader);
ClusterViewReply get_cluster_view_reply(WireReader& reader);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_CLUSTER_VIEW_MESSAGE_H_
