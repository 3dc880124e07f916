// Views between nodes, on a host: answers other nodes' requests for this node's views, and asks all nodes for theirs on
// behalf of this host's processes (core/cluster_view).
#ifndef CABLEWAY_CORE_LINUX_NODE_VIEW_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_VIEW_SERVICE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/circuit/hop_reception.h"
#include "core/clock.h"
#include "core/cluster_view/cluster_views.h"
#include "core/cluster_view/view_answers.h"
#include "core/crypto/sub_key.h"
#include "core/metrics/host_measures.h"
#include "core/node/node.h"
#include "core/view/view_table.h"

namespace cableway::host {

// For ViewSources::port_bytes.
std::map<std::string, PortBytes> port_bytes_of(const HostTraffic& traffic);

// Lives on the node's thread.
class ViewService {
 public:
  // `dial`: its means; `key`: that set-ups are sealed with; `sources`: of the views. All arguments must outlive it.
  ViewService(Node& node, const HopDial::Means& dial, std::function<std::optional<SubKey>()> key,
              std::function<ViewSources()> sources);

  // Whether the set-up is for a view of this node: its own part in it is not to relay.
  static bool is_for(const CircuitSetup& setup) { return setup.purpose == SetupPurpose::kView && setup.last_hop(); }
  void arrived(ArrivedSetup setup) { answers_.arrived(std::move(setup)); }
  void request(const SessionPeer& peer, const ClusterViewRequest& request, ClusterViews::Answer answer) {
    views_.request(peer, request, std::move(answer));
  }
  void ended(const SessionPeer& peer) { views_.ended(peer); }

 private:
  absl::StatusOr<std::string> make(const std::string& view) const;

  const std::function<ViewSources()> sources_;
  ViewAnswers answers_;
  ClusterViews views_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_VIEW_SERVICE_H_
