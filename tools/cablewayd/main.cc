// cablewayd: the node of this host (network namespace). Reads its settings, starts the node, and runs until a signal
// ends it, or, with --session, until the node has been idle for a while.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/event/event_code.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/node/node_service.h"
#include "core/linux/ports/netlink_inventory.h"
#include "core/ports/port_selector.h"
#include "core/settings/settings.h"
#include "core/settings/settings_sample.h"
#include "tools/cablewayd/config_check.h"
#include "tools/cablewayd/daemon_options.h"
#include "tools/cablewayd/idle_watch.h"
#include "tools/cablewayd/node_log.h"
#include "tools/cablewayd/systemd_notice.h"

namespace cableway {
namespace {

// Exit status of invalid arguments, as in cableway.
constexpr int kNotUsable = 2;

// Each circuit uses four descriptors, and each lease of the relay memory two.
bool raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Reports `text` to the process that started this one and waits for it (core/linux/session/node_starter.h).
void report(int ready_fd, const std::string& text) {
  if (ready_fd < 0) return;
  const std::string line = text + "\n";
  static_cast<void>(::write(ready_fd, line.data(), line.size()));
  ::close(ready_fd);
}

absl::StatusOr<Settings> settings_of(const std::vector<GivenSetting>& given) {
  return host::read_settings({.environment = environ, .host_name = host::host_name(), .options = given});
}

EventSeverity logged_from(const Settings& settings) {
  return parse_event_severity(settings.log_level).value_or(EventSeverity::kInfo);
}

// A node from its settings to its end.
class Daemon {
 public:
  Daemon(const Settings& settings, const DaemonOptions& options)
      : settings_(settings),
        options_(options),
        log_(settings.log_file, logged_from(settings)),
        end_signals_(io_, SIGINT, SIGTERM),
        reload_signal_(io_, SIGHUP) {}

  absl::Status run() {
    if (absl::Status opened = open_notice(); !opened.ok()) return opened;
    const absl::Status log_opened = log_.reopen();
    const bool limit_raised = raise_descriptor_limit();
    using Whom = host::NodeService::For;
    auto service = host::NodeService::start(
        io_, settings_, [this](const Event& event) { log_.write(event); }, options_.session ? Whom::kJob : Whom::kHost);
    // When two ranks start a node at the same time, the loser uses the winner's.
    if (options_.session && absl::IsAlreadyExists(service.status())) {
      report(options_.ready_fd, "ready");
      return absl::OkStatus();
    }
    if (!service.ok()) return service.status();
    service_ = *std::move(service);
    note_log(log_opened);
    if (!limit_raised) {
      service_->events().raise(EventCode::kDescriptorsLimited, "cannot raise the limit of open files");
    }
    end_signals_.async_wait([this](boost::system::error_code error, int signal) {
      if (!error) end(absl::StrCat("signal ", signal));
    });
    await_reload();
    if (options_.session) {
      idle_ = std::make_unique<IdleWatch>(io_, *service_, settings_.linger, [this] {
        end(absl::StrCat("this node has been idle for ", settings_.linger.count(), " s"));
      });
    }
    report(options_.ready_fd, "ready");
    if (notice_ != nullptr) notice_->ready();
    io_.run();
    return absl::OkStatus();
  }

 private:
  // A job's node is no service of systemd's, although the job may be.
  absl::Status open_notice() {
    if (options_.session) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<SystemdNotice>> notice = SystemdNotice::open(io_);
    if (!notice.ok()) return notice.status();
    notice_ = *std::move(notice);
    return absl::OkStatus();
  }

  void end(const std::string& reason) {
    if (notice_ != nullptr) notice_->stopping(reason);
    service_->leave(reason);
    io_.stop();
  }

  void note_log(const absl::Status& opened) {
    if (opened.ok()) return;
    const std::string reason(opened.message());
    service_->events().raise(EventCode::kLogUnavailable, absl::StrCat(reason, "; logging continues unchanged"),
                             {{"reason", reason}});
  }

  void await_reload() {
    reload_signal_.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      if (notice_ != nullptr) notice_->reloading();
      reload();
      if (notice_ != nullptr) notice_->reloaded();
      await_reload();
    });
  }

  // Applies the new settings only if all of them are valid.
  void reload() {
    note_log(log_.reopen());
    const absl::StatusOr<Settings> settings = settings_of(options_.given);
    if (!settings.ok()) {
      const std::string reason(settings.status().message());
      return service_->events().raise(EventCode::kSettingsRefused,
                                      absl::StrCat("settings not reloaded, nothing has changed: ", reason),
                                      {{"reason", reason}});
    }
    log_.set_least(logged_from(*settings));
    service_->reload(*settings);
  }

  const Settings settings_;
  const DaemonOptions& options_;
  NodeLog log_;
  boost::asio::io_context io_;
  boost::asio::signal_set end_signals_;
  boost::asio::signal_set reload_signal_;
  std::unique_ptr<SystemdNotice> notice_;  // null: of a job's node
  std::unique_ptr<host::NodeService> service_;
  std::unique_ptr<IdleWatch> idle_;
};

// Every interface with every address, regardless of the settings.
absl::StatusOr<std::vector<PortFacts>> all_ports(const Settings& settings) {
  std::vector<PortSelector> selectors = settings.ports;
  selectors.push_back(*parse_port_selector("0.0.0.0/0"));
  selectors.push_back(*parse_port_selector("::/0"));
  boost::asio::io_context io;
  const auto inventory = host::NetlinkInventory::open(io, std::move(selectors));
  if (!inventory.ok()) return inventory.status();
  return (*inventory)->ports();
}

absl::Status show_config(const Settings& settings, const DaemonOptions& options) {
  const absl::StatusOr<std::vector<PortFacts>> ports = all_ports(settings);
  if (!ports.ok()) return ports.status();
  const ViewFormat format = options.json ? ViewFormat::kJson : ViewFormat::kText;
  const absl::StatusOr<std::string> view = check_config(settings, *ports, format);
  if (view.ok()) std::fputs(view->c_str(), stdout);
  return view.status();
}

int run(const DaemonOptions& options) {
  const absl::StatusOr<Settings> settings = settings_of(options.given);
  absl::Status status = settings.status();
  if (status.ok()) {
    status = options.check_config ? show_config(*settings, options) : Daemon(*settings, options).run();
  }
  if (status.ok()) return 0;
  const std::string text(status.message());
  report(options.ready_fd, text);
  std::fprintf(stderr, "cablewayd: %s\n", text.c_str());
  return 1;
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  cableway::DaemonOptions options;
  CLI::App app;
  cableway::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "cablewayd: %s; see cablewayd --help\n", error.what());
    return cableway::kNotUsable;
  }
  if (options.sample_config) {
    const std::string sample = cableway::settings_sample();
    return std::fwrite(sample.data(), 1, sample.size(), stdout) == sample.size() && std::fflush(stdout) == 0 ? 0 : 1;
  }
  // splice(2) to a connection that the peer has closed raises it, and has no MSG_NOSIGNAL.
  ::signal(SIGPIPE, SIG_IGN);
  // The starting process must not remain the node's parent.
  if (options.session) {
    const pid_t child = ::fork();
    if (child < 0) std::perror("cablewayd: cannot fork");
    if (child != 0) return child < 0 ? 1 : 0;
  }
  return cableway::run(options);
}
