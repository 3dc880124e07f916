// The connection on which a hop is set up, as its two ends see it: bytes in order. core/linux/hop/ has it over TCP, the
// simulator in virtual time.
//
// One thread: that of the Clock beside it. Calls that were asked for come later on that thread, never from inside the
// call that asked; they may drop the object, after which none comes.
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

// Dropping it closes the connection without a word.
class SetupConnection {
 public:
  // The bytes are good within the call only.
  using HaveBytes = std::function<void(const absl::Status& ended, std::span<const std::byte> bytes)>;
  using Sent = std::function<void(const absl::Status& ended)>;

  SetupConnection() = default;
  virtual ~SetupConnection() = default;
  SetupConnection(const SetupConnection&) = delete;
  SetupConnection& operator=(const SetupConnection&) = delete;

  // One read at a time, of at least one byte. `have` is called once: with as many bytes, or with why there will be
  // none.
  virtual void read(std::size_t bytes, HaveBytes have) = 0;
  // One send at a time. `sent` is called once.
  virtual void send(std::vector<std::byte> bytes, Sent sent) = 0;
  // For the first few hundred bytes that are ever sent on it, for which there is room: they have left when it returns.
  // Unavailable: the connection has ended.
  virtual absl::Status send_first(const std::vector<std::byte>& bytes) = 0;
  // Ends the connection with these last words, which may be lost with it. Nothing else may be called afterwards.
  virtual void end_with(const std::vector<std::byte>& final_frame) = 0;

  // The IP literals of its two ends as this host writes them; what a set-up calls them may have the scope of another
  // host.
  virtual std::string own_address() const = 0;
  virtual std::string other_address() const = 0;
  // For people: whoever is at the other end.
  virtual std::string other_end() const = 0;
};

// Connects to the far end of hops.
class SetupConnector {
 public:
  // NotFound: nobody listens there now. Anything else is final, too, and says why.
  using Connected = std::function<void(absl::StatusOr<std::unique_ptr<SetupConnection>>)>;

  // An attempt under way. Dropping it ends the attempt.
  class Attempt {
   public:
    Attempt() = default;
    virtual ~Attempt() = default;
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
  };

  virtual ~SetupConnector() = default;
  // From the hop's one address to the other, over its cable. Has no limit of its own: it goes on until it is dropped.
  [[nodiscard]] virtual std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_SETUP_CONNECTION_H_
