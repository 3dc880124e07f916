// The node as a running thing: answers its sessions, accepts circuits that pass through, and relays them.
#ifndef CABLEWAY_CORE_LINUX_RELAY_SERVICE_H_
#define CABLEWAY_CORE_LINUX_RELAY_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/circuit_acceptor.h"
#include "core/linux/relay_loop.h"
#include "core/linux/session_server.h"
#include "core/node.h"
#include "core/settings.h"

namespace cableway::linux_ {

// One thread, `io`'s; the data path has its own (relay_loop.h).
class RelayService {
 public:
  using Log = std::function<void(const std::string&)>;

  // AlreadyExists: another node runs here.
  static absl::StatusOr<std::unique_ptr<RelayService>> start(boost::asio::io_context& io, const Settings& settings,
                                                             Node node, Log log);

  // Whether nobody needs this node now: no session, no circuit open or being set up.
  bool idle() const;

 private:
  RelayService(boost::asio::io_context& io, Node node, Log log)
      : io_(io), node_(std::move(node)), log_(std::move(log)) {}

  void on_setup(PendingCircuit pending);
  void on_dialed(const std::shared_ptr<PendingCircuit>& pending, absl::StatusOr<UniqueFd> downstream);
  void on_closed(RelayLoop::Closed closed);
  // For lines that strangers can cause: a few a second, then a count of those left out.
  void log_briefly(const std::string& line);
  void refuse(PendingCircuit pending, const absl::Status& reason);
  void warn_of_small_pipes(const RelayLoop::Slots& slots);
  SessionMessage answer(const SessionMessage& request) const;
  ViewReply view(const std::string& name) const;

  boost::asio::io_context& io_;
  Node node_;
  Log log_;
  std::uint64_t setups_refused_ = 0;
  std::size_t dialing_ = 0;
  bool warned_of_small_pipes_ = false;
  std::chrono::steady_clock::time_point brief_since_;
  std::uint64_t brief_lines_ = 0;
  std::unique_ptr<SessionServer> sessions_;
  std::unique_ptr<RelayLoop> loop_;
  std::unique_ptr<CircuitAcceptor> acceptor_;
};

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_RELAY_SERVICE_H_
