// hostile_node: an insider on this host's cables. It has the cluster's key, has adjacencies, and floods false
// information. tools/bench.sh hostile runs it. The settings select node, cluster, ports and key, as for cablewayd.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/crypto/keyed_seal.h"
#include "core/linux/control/udp_control_channel.h"
#include "core/linux/files/key_reader.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/os/asio_clock.h"
#include "core/linux/ports/netlink_inventory.h"
#include "tools/bench/hostile/lies.h"

namespace cableway::bench {
namespace {

struct Options {
  std::uint64_t boot_nonce = 0;
  std::int64_t hold_ms = 1000;
  std::size_t nodes = 0;
  std::size_t cables_each = 1;
  std::vector<std::string> addresses;
  std::vector<std::string> forged;
  std::string renewed;
  std::uint64_t per_second = 10;
  int ready_fd = -1;
};

std::uint64_t boot_nonce_in(std::chrono::years years) {
  const auto then = (std::chrono::system_clock::now() + years).time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(then).count());
}

// Nodes refuse what is more than 20 years ahead of their clocks.
constexpr std::chrono::years kAccepted{19};

absl::StatusOr<std::unique_ptr<DatagramSeal>> seal_of(const Settings& settings) {
  if (settings.key_file.empty()) return std::make_unique<NoSeal>();
  absl::StatusOr<KeyRing> key = host::read_keys(settings.key_file);
  if (!key.ok()) return key.status();
  return std::make_unique<KeyedSeal>(*std::move(key));
}

absl::StatusOr<std::vector<routing::PortAddress>> parsed(const std::vector<std::string>& texts) {
  std::vector<routing::PortAddress> addresses;
  for (const std::string& text : texts) {
    const absl::StatusOr<routing::PortAddress> address = routing::parse_port_address(text);
    if (!address.ok()) return address.status();
    addresses.push_back(*address);
  }
  return addresses;
}

// Lies once it has a neighbour, until a signal.
class HostileNode {
 public:
  HostileNode(boost::asio::io_context& io, const Settings& settings, const Options& options,
              std::vector<routing::PortAddress> addresses, PortInventory& inventory, const DatagramSeal& seal)
      : options_(options),
        addresses_(std::move(addresses)),
        clock_(io),
        channel_(io, settings.control_port),
        node_({settings.cluster, settings.node, options.boot_nonce == 0 ? boot_nonce_in({}) : options.boot_nonce},
              clock_, inventory, channel_, seal, {settings.hello, std::chrono::milliseconds(options.hold_ms)}) {
    channel_.update_ports(inventory.ports());
    node_.start();
    await_neighbour();
  }

  // `sent` is for a rate, so only where there is one.
  void report() const {
    std::printf("{\"neighbours\": %zu, \"%s\": %zu}\n", node_.neighbours_up(), repeated_ ? "sent" : "in_all",
                node_.sent());
  }

 private:
  void await_neighbour() {
    constexpr std::chrono::milliseconds kPoll{10};
    if (node_.neighbours_up() == 0) {
      poll_ = clock_.call_after(kPoll, [this] { await_neighbour(); });
      return;
    }
    lie();
    constexpr char kReady[] = "ready\n";
    if (options_.ready_fd < 0) return;
    if (::write(options_.ready_fd, kReady, sizeof kReady - 1) < 0) std::perror("hostile_node: --ready-fd");
    ::close(options_.ready_fd);
  }

  void lie() {
    if (options_.nodes > 0) invent_nodes(node_, options_.nodes, options_.cables_each);
    if (!addresses_.empty()) claim_addresses(node_, addresses_);
    if (!options_.forged.empty()) {
      repeated_ = forge(node_, clock_, options_.forged, boot_nonce_in(kAccepted), options_.per_second);
    }
    if (options_.renewed == "own") repeated_ = renew_own(node_, clock_, options_.per_second);
    if (options_.renewed == "ports") repeated_ = renew_ports(node_, clock_, options_.per_second);
    if (options_.renewed == "invented") repeated_ = renew_invented(node_, clock_, options_.per_second);
  }

  const Options& options_;
  const std::vector<routing::PortAddress> addresses_;
  host::AsioClock clock_;
  host::UdpControlChannel channel_;
  sim::LyingNode node_;
  std::unique_ptr<Timer> poll_;
  std::unique_ptr<PacedCalls> repeated_;
};

absl::Status run(const Options& options) {
  const absl::StatusOr<Settings> settings =
      host::read_settings({.environment = environ, .host_name = host::host_name(), .options = {}});
  if (!settings.ok()) return settings.status();
  const absl::StatusOr<std::unique_ptr<DatagramSeal>> seal = seal_of(*settings);
  if (!seal.ok()) return seal.status();
  absl::StatusOr<std::vector<routing::PortAddress>> addresses = parsed(options.addresses);
  if (!addresses.ok()) return addresses.status();
  boost::asio::io_context io;
  const absl::StatusOr<std::unique_ptr<host::NetlinkInventory>> inventory =
      host::NetlinkInventory::open(io, settings->ports);
  if (!inventory.ok()) return inventory.status();
  boost::asio::signal_set end_signals(io, SIGINT, SIGTERM);
  end_signals.async_wait([&](boost::system::error_code, int) { io.stop(); });
  const HostileNode node(io, *settings, options, *std::move(addresses), **inventory, **seal);
  io.run();
  node.report();
  return absl::OkStatus();
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--boot-nonce", options.boot_nonce, "its incarnation; 0: the time in microseconds")
      ->capture_default_str();
  app.add_option("--hold-ms", options.hold_ms, "how long its neighbours are to keep it without a hello")
      ->check(CLI::Range(1, 120'000))
      ->capture_default_str();
  app.add_option("--nodes", options.nodes, "invent so many nodes")->check(CLI::Range(0, 65536))->capture_default_str();
  app.add_option("--cables-each", options.cables_each, "cables of each of them")
      ->check(CLI::Range(0, 31))
      ->capture_default_str();
  app.add_option("--claim", options.addresses, "claim these IPv4 addresses");
  app.add_option("--forge", options.forged,
                 "forge advertisements of these nodes, with the latest versions that nodes accept");
  app.add_option("--renew", options.renewed,
                 "renew advertisements: its own, or those of invented nodes; or its list of TCP ports")
      ->check(CLI::IsMember({"own", "invented", "ports"}));
  app.add_option("--per-second", options.per_second, "rate of --forge or --renew")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--ready-fd", options.ready_fd,
                 "file descriptor on which to report \"ready\", once it has a neighbour");
}

}  // namespace
}  // namespace cableway::bench

int main(int argc, char** argv) {
  CLI::App app{
      "hostile_node - a neighbour with the cluster's key that lies, for benchmarks. It ends without a leaving hello "
      "to\n"
      "its neighbours, and prints the number of its neighbours and of the advertisements that it has sent."};
  cableway::bench::Options options;
  cableway::bench::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = cableway::bench::run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "hostile_node: %s\n", std::string(status.message()).c_str());
  return 1;
}
