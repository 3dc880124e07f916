// The connections that a dial makes, as the test says: each attempt waits for the test's result.
#ifndef CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTOR_H_
#define CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTOR_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/circuit/setup_connection.h"
#include "core/circuit/transport.h"
#include "tests/core/circuit/played_connection.h"

namespace cableway::test {

// The end of a hop that uses its connection.
class PlayedConnectionEnd final : public TransportEnd {
 public:
  std::string name() const override { return "tcp"; }
  std::uint32_t max_chunk_bytes() const override { return 65536; }
};

// Connects when the test calls reach().
class PlayedConnector final : public SetupConnector {
 public:
  struct Dialled {
    Hop hop;
    Connected connected;
    bool dropped = false;
  };

  [[nodiscard]] std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) override {
    dialled.push_back(std::make_shared<Dialled>(Dialled{hop, std::move(connected)}));
    return std::make_unique<Kept>(dialled.back());
  }
  // The newest attempt reaches this peer.
  std::shared_ptr<PlayedPeer> reach() {
    auto peer = std::make_shared<PlayedPeer>();
    dialled.back()->connected(std::make_unique<PlayedConnection>(peer));
    peer->run();
    return peer;
  }

  std::vector<std::shared_ptr<Dialled>> dialled;

 private:
  struct Kept final : Attempt {
    explicit Kept(std::shared_ptr<Dialled> attempt) : of(std::move(attempt)) {}
    ~Kept() override { of->dropped = true; }
    const std::shared_ptr<Dialled> of;
  };
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_CIRCUIT_PLAYED_CONNECTOR_H_
