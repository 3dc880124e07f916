// The connection on which a hop is set up: an ordered byte stream. core/linux/hop/ implements it over TCP, the
// simulator in virtual time.
//
// One thread: that of the Clock beside it. Callbacks run later on that thread, never from inside the call that passed
// them. They may destroy the object; no callback runs after that.
#ifndef CABLEWAY_CORE_CIRCUIT_SETUP_CONNECTION_H_
#define CABLEWAY_CORE_CIRCUIT_SETUP_CONNECTION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/hop.h"

namespace cableway {

// Destroying it closes the connection.
class SetupConnection {
 public:
  // The bytes are valid during the call only.
  using HaveBytes = std::function<void(const absl::Status& ended, std::span<const std::byte> bytes)>;
  using Sent = std::function<void(const absl::Status& ended)>;

  SetupConnection() = default;
  virtual ~SetupConnection() = default;
  SetupConnection(const SetupConnection&) = delete;
  SetupConnection& operator=(const SetupConnection&) = delete;

  // One read at a time, of at least one byte. `have` is called once, with the requested number of bytes or with an
  // error.
  virtual void read(std::size_t bytes, HaveBytes have) = 0;
  // One send at a time. `sent` is called once.
  virtual void send(std::vector<std::byte> bytes, Sent sent) = 0;
  // For the first few hundred bytes on the connection, which always fit its send buffer: they have been sent when the
  // call returns. Unavailable: the connection has ended.
  virtual absl::Status send_first(const std::vector<std::byte>& bytes) = 0;
  // Sends the frame, which may be lost, and closes the connection. No other function may be called afterwards.
  virtual void end_with(const std::vector<std::byte>& final_frame) = 0;
  // Before the destructor, instead of end_with(): lets it close the connection so that the operating system keeps
  // nothing of it. The other end may not get to read what was sent.
  virtual void abandon() {}

  // The IP literals of the two ends, with this host's scopes; the addresses in a set-up may have another host's.
  virtual std::string own_address() const = 0;
  virtual std::string other_address() const = 0;
  // The other end, for display.
  virtual std::string other_end() const = 0;
};

// Connects to the far ends of hops.
class SetupConnector {
 public:
  // NotFound only if no process listens there now. Every error ends the attempt.
  using Connected = std::function<void(absl::StatusOr<std::unique_ptr<SetupConnection>>)>;

  // A pending attempt. Destroying it cancels the attempt.
  class Attempt {
   public:
    Attempt() = default;
    virtual ~Attempt() = default;
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
  };

  virtual ~SetupConnector() = default;
  // Connects from one address of the hop to the other, over its cable. Has no time-out of its own.
  [[nodiscard]] virtual std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_SETUP_CONNECTION_H_
