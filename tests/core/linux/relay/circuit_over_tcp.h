// A circuit through a relay loop whose hops both go over TCP.
#ifndef CABLEWAY_TESTS_CORE_LINUX_RELAY_CIRCUIT_OVER_TCP_H_
#define CABLEWAY_TESTS_CORE_LINUX_RELAY_CIRCUIT_OVER_TCP_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "core/circuit/circuit_setup.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/relay/relay_loop.h"
#include "core/linux/tcp/tcp_transport.h"

namespace cableway::host::test {

inline void add_over_tcp(RelayLoop& loop, const CircuitSetup& setup, UniqueFd upstream, UniqueFd downstream) {
  auto from = make_tcp_end();
  auto to = make_tcp_end();
  absl::StatusOr<std::unique_ptr<Slot>> floor = loop.make_floor(*from, *to);
  EXPECT_TRUE(floor.ok()) << floor.status();
  EXPECT_TRUE(loop.add(setup, {std::move(upstream), std::move(from), {}, setup.chunk_bytes},
                       {std::move(downstream), std::move(to), {}, setup.chunk_bytes}, *std::move(floor))
                  .ok());
}

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_RELAY_CIRCUIT_OVER_TCP_H_
