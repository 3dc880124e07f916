#include "core/linux/node/view_service.h"

#include <utility>

#include "core/cluster_view/view_paths.h"
#include "core/view/shown_view.h"

namespace cableway::host {

std::map<std::string, PortBytes> port_bytes_of(const HostTraffic& traffic) {
  std::map<std::string, PortBytes> bytes;
  for (const auto& [interface, counts] : traffic) {
    const auto& [received, sent] = counts;
    bytes[interface] = {received.bytes, sent.bytes, received.rdma_bytes, sent.rdma_bytes};
  }
  return bytes;
}

ViewService::ViewService(Node& node, const HopDial::Means& dial, std::function<std::optional<SubKey>()> key,
                         std::function<ViewSources()> sources)
    : sources_(std::move(sources)),
      answers_(dial.clock,
               {node.identity().name,
                [&node](const SetupConnection& connection) {
                  return node.neighbour_at(connection.own_address(), connection.other_address());
                },
                [&node] { return node.share_holders(); }, [this](const std::string& view) { return make(view); }}),
      views_({{dial, node.identity().name, std::move(key),
               [&node](const std::string& other, std::size_t most) { return view_paths(node.paths(), other, most); }},
              [&node] { return nodes_to_view(node.paths()); },
              [this](const std::string& view) { return answers_.document(view); }}) {}

absl::StatusOr<std::string> ViewService::make(const std::string& view) const {
  return shown_view(view, sources_());
}

}  // namespace cableway::host
