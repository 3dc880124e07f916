// A peer that connects to a listening TCP port and violates the protocol, or follows only a part of it.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/circuit/circuit_seal.h"
#include "core/circuit/circuit_setup.h"
#include "core/flow/frame.h"
#include "core/linux/os/unique_fd.h"
#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {

class UntrustedPeer {
 public:
  // Connects, from `address` if it is not empty.
  explicit UntrustedPeer(const World::Door& door, const std::string& address = "");

  // False: the other end has closed.
  bool send(std::span<const std::byte> bytes);
  bool send(const Frame& frame, std::span<const std::byte> payload = {});

  struct Answer {
    bool accepted = false;  // a set-up-ok
    bool closed = false;    // the other end has closed or reset the connection
    std::string reason;     // of a `failed`
    std::optional<FailureScope> scope;
  };
  // The challenge that an end with a key sends first.
  Challenge receive_challenge(std::chrono::milliseconds limit);
  // Receives until the connection is closed or the set-up is accepted.
  Answer receive(std::chrono::milliseconds limit);
  // After an accepted set-up: the next frame without a payload, or the header of a `failed`. nullopt: there is none.
  std::optional<Frame> receive_frame(std::chrono::milliseconds limit);
  // After an accepted set-up: the scope of the `failed` that ends the circuit. nullopt: it ends without one.
  std::optional<FailureScope> receive_failed(std::chrono::milliseconds limit);

 private:
  host::UniqueFd socket_;
};

// Whether the kernel there refuses connections: no process listens.
bool is_refused_at(const World::Door& door);

// A valid set-up over `hops` to the process that returned `handle`. as_frame() makes the frame to send.
CircuitSetup setup_for(const Handle& handle, const std::string& from, std::vector<Hop> hops);
std::vector<std::byte> as_frame(const CircuitSetup& setup);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_
