// An application's side of the session socket: requests and their answers, reports, and the node's notifications.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_CLIENT_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_CLIENT_H_

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/session/session_names.h"
#include "core/session/session_message.h"

namespace cableway::host {

// One thread: `io`'s. Close it, and drop the last reference, before `io` is destroyed.
class SessionClient : public std::enable_shared_from_this<SessionClient> {
 public:
  using Reply = std::function<void(absl::StatusOr<SessionMessage>)>;

  // Errors as in dial_node(); NotFound: no node is running here.
  static absl::StatusOr<std::shared_ptr<SessionClient>> connect(boost::asio::io_context& io, const SessionNames& names);

  // Calls `reply` exactly once; with Unavailable once the session has ended. Answers arrive in the order of the
  // requests, except for path requests, whose `request` is filled in here: each is answered when its path is known.
  // While a cable test runs, no other request may be made.
  void request(SessionMessage message, Reply reply);
  // Sends a report (is_report()), which is not answered. The session ends if the node leaves 16 MiB of them unread.
  void report(const SessionMessage& message);
  // Whether more than 1 MiB waits to be read by the node. Reports that the next second's reports replace should then
  // be skipped.
  bool is_behind() const { return outgoing_bytes_ > (1U << 20); }
  // Called when the node sends a further Welcome: its ports have changed.
  void on_welcome(std::function<void(const Welcome&)> changed) { welcomed_ = std::move(changed); }
  // Called before the first Welcome with the node's page of port stamps (core/linux/gate/shared_port_stamps.h).
  // Invalid: the node has passed none.
  void on_port_stamps(std::function<void(UniqueFd)> have) { have_port_stamps_ = std::move(have); }
  // Called when the node reports a lost port.
  void on_port_lost(std::function<void(const PortLost&)> lost) { port_lost_ = std::move(lost); }
  // Called when the node reports that the best paths may have changed.
  void on_paths_changed(std::function<void()> changed) { paths_changed_ = std::move(changed); }
  bool ended() const { return !socket_.is_open(); }
  // Fails every unanswered request.
  void close();

 private:
  explicit SessionClient(boost::asio::io_context& io) : socket_(io) {}
  void send(const SessionMessage& message);
  void write_next();
  void write_failed();
  // The first message brings a descriptor.
  void read_first();
  void have_first();
  void read_next();
  void have_length();
  void have_body();
  // Returns whether the message answers no request.
  bool take_notification(const SessionMessage& message);
  void give_reply(absl::StatusOr<SessionMessage> message);

  boost::asio::local::stream_protocol::socket socket_;
  std::deque<std::vector<std::byte>> outgoing_;
  std::size_t outgoing_bytes_ = 0;
  std::deque<Reply> waiting_;                         // in the order of their requests
  std::map<std::uint64_t, Reply> waiting_for_paths_;  // by request
  std::uint64_t next_request_ = 1;
  bool welcome_due_ = false;  // the next Welcome answers the Hello
  std::function<void(const Welcome&)> welcomed_ = [](const Welcome&) {};
  std::function<void(UniqueFd)> have_port_stamps_ = [](const UniqueFd&) {};
  std::function<void(const PortLost&)> port_lost_ = [](const PortLost&) {};
  std::function<void()> paths_changed_ = [] {};
  std::size_t writing_ = 0;  // so many of outgoing_ are being written
  bool unheard_ = false;     // the node no longer reads
  bool reading_ = false;
  std::array<std::byte, sizeof(std::uint32_t)> length_{};
  std::vector<std::byte> body_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_CLIENT_H_
