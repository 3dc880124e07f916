// cablewayd: the node of this host (network namespace). Reads its settings, makes the node, and runs until it is told
// to stop, or, with --session, until nobody has needed it for a while.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/linux/relay_service.h"
#include "core/linux/settings_reader.h"
#include "core/linux/topology_reader.h"
#include "core/node.h"
#include "core/settings.h"
#include "core/settings_table.h"
#include "tools/cablewayd/config_check.h"
#include "tools/cablewayd/node_log.h"

namespace cableway {
namespace {

struct Options {
  bool session = false;
  bool check_config = false;
  bool json = false;
  int ready_fd = -1;
};

absl::StatusOr<Node> make_node(const Settings& settings) {
  if (settings.topology_file.empty()) {
    return absl::FailedPreconditionError("no topology: set CABLEWAY_TOPOLOGY to a topology file");
  }
  absl::StatusOr<routing::Topology> topology = linux_::read_topology(settings.topology_file);
  if (!topology.ok()) return topology.status();
  std::random_device random;
  const std::uint64_t boot_nonce = (static_cast<std::uint64_t>(random()) << 32) | random();
  return Node::create(settings.node, boot_nonce, std::make_shared<const routing::Topology>(*std::move(topology)));
}

// Circuits take six descriptors each.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) spdlog::warn("cannot raise the limit of open files");
}

// Says `text` to whoever started this process and waits for it (core/linux/node_starter.h).
void report(int ready_fd, const std::string& text) {
  if (ready_fd < 0) return;
  const std::string line = text + "\n";
  static_cast<void>(!::write(ready_fd, line.data(), line.size()));
  ::close(ready_fd);
}

class IdleWatch {
 public:
  IdleWatch(boost::asio::io_context& io, const linux_::RelayService& service, std::chrono::seconds linger)
      : io_(io), service_(service), linger_(linger), timer_(io), needed_(Clock::now() + kJoinLimit) {
    check();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Whoever started this node has as long to say hello, however short the linger.
  static constexpr std::chrono::seconds kJoinLimit{10};

  void check() {
    const auto now = Clock::now();
    if (!service_.idle()) needed_ = now;
    if (now - needed_ > linger_) {
      spdlog::info("nobody has needed this node for {} s: leaving", linger_.count());
      return io_.stop();
    }
    timer_.expires_after(std::chrono::milliseconds(500));
    timer_.async_wait([this](boost::system::error_code stopped) {
      if (!stopped) check();
    });
  }

  boost::asio::io_context& io_;
  const linux_::RelayService& service_;
  const std::chrono::seconds linger_;
  boost::asio::steady_timer timer_;
  Clock::time_point needed_;
};

absl::Status serve(const Settings& settings, const Options& options) {
  absl::StatusOr<Node> node = make_node(settings);
  if (!node.ok()) return node.status();
  raise_descriptor_limit();
  boost::asio::io_context io;
  auto service = linux_::RelayService::start(io, settings, *std::move(node),
                                             [](const std::string& line) { spdlog::info("{}", line); });
  // Two ranks that start a node at the same time both have one.
  const bool another = service.status().code() == absl::StatusCode::kAlreadyExists;
  if (options.session && another) {
    report(options.ready_fd, "ready");
    return absl::OkStatus();
  }
  if (!service.ok()) return service.status();
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&io](boost::system::error_code error, int signal) {
    if (error) return;
    spdlog::info("signal {}: leaving", signal);
    io.stop();
  });
  std::unique_ptr<IdleWatch> idle;
  if (options.session) idle = std::make_unique<IdleWatch>(io, **service, settings.linger);
  spdlog::info("node {} is up", settings.node);
  report(options.ready_fd, "ready");
  io.run();
  return absl::OkStatus();
}

absl::Status show_config(const Settings& settings, const Options& options) {
  if (absl::Status status = make_node(settings).status(); !status.ok()) return status;
  const ViewFormat format = options.json ? ViewFormat::kJson : ViewFormat::kText;
  const absl::StatusOr<std::string> view = check_config(settings, std::nullopt, format);
  if (view.ok()) std::fputs(view->c_str(), stdout);
  return view.status();
}

absl::Status log_and_serve(const Settings& settings, const Options& options) {
  NodeLog log(settings.log_file, spdlog::level::from_str(settings.log_level));
  spdlog::set_default_logger(log.logger());
  if (absl::Status status = log.reopen(); !status.ok()) {
    spdlog::warn("{}; logging to standard error", std::string(status.message()));
  }
  return serve(settings, options);
}

int run(const Options& options, const std::vector<GivenSetting>& given) {
  absl::StatusOr<Settings> settings =
      linux_::read_settings({.environment = environ, .host_name = linux_::host_name(), .options = given});
  absl::Status status = settings.status();
  if (status.ok()) {
    status = options.check_config ? show_config(*settings, options) : log_and_serve(*settings, options);
  }
  if (status.ok()) return 0;
  const std::string text(status.message());
  report(options.ready_fd, text);
  std::fprintf(stderr, "cablewayd: %s\n", text.c_str());
  return 1;
}

// One option for each setting. Its value is put into `given` while the command line is parsed.
void add_settings(CLI::App& app, std::vector<GivenSetting>& given) {
  for (const Setting& setting : all_settings()) {
    const std::string option = option_of(setting);
    const auto take = [&given, option, key = std::string(setting.key)](const std::string& value) {
      given.push_back({.key = key, .value = value, .origin = option});
    };
    const std::string help = absl::StrCat(std::string(setting.meaning), " (", variable_of(setting), ")");
    app.add_option_function<std::string>(option, take, help)->group("Settings");
  }
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  CLI::App app{
      "cablewayd - the Cableway node of this host: keeps its routes, answers its jobs, relays for others.\n"
      "Settings come from options, else the environment (CABLEWAY_NODE, ..), else the settings file."};
  cableway::Options options;
  std::vector<cableway::GivenSetting> given;
  cableway::add_settings(app, given);
  app.add_flag("--check-config", options.check_config,
               "check settings, topology and key, show what is in force, then exit");
  app.add_flag("--json", options.json, "with --check-config: as JSON");
  app.add_flag("--session", options.session, "run in the background while a job needs a node; the plugin uses this");
  app.add_option("--ready-fd", options.ready_fd, "descriptor on which to say \"ready\", or why not");
  app.set_version_flag("--version", "cablewayd " CABLEWAY_VERSION);
  CLI11_PARSE(app, argc, argv);
  // splice(2) to a connection that the peer has closed raises it, and has no flag that says otherwise.
  ::signal(SIGPIPE, SIG_IGN);
  // The starter must not become the node's parent for life.
  if (options.session) {
    const pid_t child = ::fork();
    if (child < 0) std::perror("cablewayd: cannot fork");
    if (child != 0) return child < 0 ? 1 : 0;
  }
  return cableway::run(options, given);
}
