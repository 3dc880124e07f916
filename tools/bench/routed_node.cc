// routed_node FILE: serves the sessions of one node from a topology file, in place of cablewayd, and relays nothing.
// Routed cables send the plugin's flows through the kernels' forwarding, which benchmarks compare with relays. The
// settings select the node and its socket (CABLEWAY_NODE, CABLEWAY_CLUSTER, CABLEWAY_RUNTIME_DIR).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/files/topology_reader.h"
#include "core/linux/session/session_names.h"
#include "core/linux/session/session_server.h"
#include "core/node/path_planner.h"

namespace cableway {
namespace {

// The node's data that a process needs: the addresses of its cables' ends, and the rate of the fastest.
Welcome welcome_to(const Settings& settings, const routing::Topology& topology) {
  Welcome welcome;
  welcome.node = settings.node;
  welcome.cluster = settings.cluster;
  welcome.boot_nonce = 1;
  for (const routing::Cable& cable : topology.cables()) {
    for (const routing::Port& end : {cable.a, cable.b}) {
      if (topology.node(end.node).name != settings.node) continue;
      welcome.addresses.push_back(end.address);
      welcome.rate_mbps = std::max(welcome.rate_mbps, cable.rate_mbps);
    }
  }
  std::sort(welcome.addresses.begin(), welcome.addresses.end());
  welcome.addresses.erase(std::unique(welcome.addresses.begin(), welcome.addresses.end()), welcome.addresses.end());
  return welcome;
}

SessionMessage answer_to(const PathPlanner& planner, const SessionMessage& request) {
  const auto* path = std::get_if<PathRequest>(&request);
  if (path == nullptr) return ViewReply{"this is a benchmark's node: it has paths, but no views", {}};
  absl::StatusOr<std::vector<PathOffer>> paths = planner.paths_for_flow(path->node, path->ordinal, path->most);
  if (!paths.ok()) return PathReply{path->request, std::string(paths.status().message()), {}};
  return PathReply{path->request, {}, *std::move(paths)};
}

absl::Status serve(const std::string& file, int ready_fd) {
  const absl::StatusOr<Settings> settings =
      host::read_settings({.environment = environ, .host_name = host::host_name(), .options = {}});
  if (!settings.ok()) return settings.status();
  absl::StatusOr<routing::Topology> read = host::read_topology(file);
  if (!read.ok()) return read.status();
  const auto topology = std::make_shared<const routing::Topology>(*std::move(read));
  const Welcome welcome = welcome_to(*settings, *topology);
  PathPlanner planner(settings->node);
  planner.set_addresses(welcome.addresses);
  if (absl::Status status = planner.update(topology); !status.ok()) return status;

  const absl::StatusOr<host::SessionNames> names = host::session_names(*settings);
  if (!names.ok()) return names.status();
  absl::StatusOr<host::SessionListeners> listeners = host::open_session_listeners(*names, std::nullopt);
  if (!listeners.ok()) return listeners.status();
  boost::asio::io_context io;
  boost::asio::signal_set end_signals(io, SIGINT, SIGTERM);
  end_signals.async_wait([&](boost::system::error_code, int) { io.stop(); });
  const auto sessions = host::SessionServer::start(
      io, std::move(listeners->all), welcome,
      [&](const SessionPeer&, const SessionMessage& request, const host::SessionServer::Answer& answer) {
        answer(answer_to(planner, request));
      });
  constexpr char kReady[] = "ready\n";
  if (ready_fd >= 0 && ::write(ready_fd, kReady, sizeof kReady - 1) < 0) std::perror("routed_node: --ready-fd");
  if (ready_fd >= 0) ::close(ready_fd);
  io.run();
  return absl::OkStatus();
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  CLI::App app{"routed_node - serves the sessions of a node from a topology file, for benchmarks"};
  std::string file;
  int ready_fd = -1;
  app.add_option("FILE", file, "topology file, as printed by `lab topology --routed A-B`")->required();
  app.add_option("--ready-fd", ready_fd, "file descriptor on which to report \"ready\"");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = cableway::serve(file, ready_fd);
  if (status.ok()) return 0;
  std::fprintf(stderr, "routed_node: %s\n", std::string(status.message()).c_str());
  return 1;
}
