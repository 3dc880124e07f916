// Somebody who connects to a door and does not keep to the protocol, or only as far as he likes.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  // Connects, from `address` if there is one.
  explicit UntrustedPeer(const World::Door& door, const std::string& address = "");

  // False: the other end has closed.
  bool say(std::span<const std::byte> bytes);
  bool say(const Frame& frame, std::span<const std::byte> payload = {});

  struct Answer {
    bool accepted = false;  // a set-up-ok
    bool closed = false;    // the other end has closed, or it has reset the connection
    std::string reason;     // of a `failed`
  };
  // The challenge that whoever has a key begins with.
  Challenge hear_challenge(std::chrono::milliseconds limit);
  // What comes until the connection is closed, or until the set-up is accepted.
  Answer hear(std::chrono::milliseconds limit);

 private:
  host::UniqueFd socket_;
};

// A set-up of its own for `hops`, which a process that gave `handle` would take; sent as whole frame by say().
CircuitSetup setup_for(const Handle& handle, const std::string& from, std::vector<Hop> hops);
std::vector<std::byte> as_frame(const CircuitSetup& setup);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_UNTRUSTED_PEER_H_
